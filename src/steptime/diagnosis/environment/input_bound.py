"""The GPU waits for data."""

from steptime.diagnosis.condition import Says, is_
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="input-bound",
    title="The GPU waits for data.",
    cause=(
        "Reading, decoding or augmenting a batch (a Python generator, image files) takes longer than "
        "the training step."
    ),
    remedies=(
        Remedy(
            (
                "# dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE).cache().batch(n).prefetch(tf.data.AUTOTUNE)",
                (
                    "# or keras.utils.PyDataset(workers=4, use_multiprocessing=True); data that fits into GPU "
                    "memory: steptime train keeps it there"
                ),
            )
        ),
    ),
    verify="nvidia-smi --query-gpu=utilization.gpu --format=csv -l 1   # during training",
    clues=(
        Clue(
            2.2,
            Says(
                r"gpu.?util(i[sz]ation)?[^\d]{0,24}([0-9]|1[0-9]|2[0-9]|3[0-9]) ?%(?!\d)",
                r"utili[sz]ation.{0,40}(saw|drops?|low|0 ?%|fluctuat)",
                r"gpu (is )?(idle|starv|waits|waiting)",
                r"utili[sz]ation.{0,60}(0 ?%|[0-9] ?%|1[0-9] ?%|2[0-9] ?%)",
                r"(low|poor|little|less|very less) gpu (usage|utili[sz]ation|engagement|load)",
                r"gpu (usage|load|utili[sz]ation|engagement).{0,30}(low|spik|zero|below|drops?|jump|fluctuat|unstable)",
                r"your input ran out of data",
                r"dataset.{0,60}bottleneck",
            ),
        ),
        Clue(
            1.4,
            Says(
                r"fit_generator",
                r"imagedatagenerator",
                r"flow_from_directory",
                r"(data|batch|input) (loading|pipeline|preparation|bound)",
                r"tf\.data",
                r"generator",
                r"from_generator",
                r"py_function|numpy_function",
            ),
        ),
        Clue(
            2.2,
            Says(
                r"input.?bound",
                r"input pipeline (is )?(the )?(bottleneck|slow)",
                r"your program is highly input-bound",
                r"cpu is at 100.{0,60}gpu",
            ),
        ),
        Clue(0.5, is_("gpu_util_low", True)),
    ),
    commonness=3,
    slow=True,
    decide="Is one CPU thread busy all the time while the GPU is idle? (py-spy top, or steptime train --profile)",
    fires=(Case(log="GPU-Util 8% while model.fit runs with an ImageDataGenerator"),),
    silent=(Case(log="GPU-Util 98%"),),
)
