"""A GPU is ignored because it has few multiprocessors."""

from steptime.diagnosis.condition import Says
from steptime.diagnosis.environment.commands import LIST_GPUS
from steptime.diagnosis.environment.places import WINDOWS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="few-multiprocessors",
    title="TensorFlow ignores a GPU because it has few multiprocessors.",
    cause=(
        "With several GPUs, TensorFlow skips one that has fewer multiprocessors than the smaller of "
        "8 and the largest GPU's number."
    ),
    remedies=(
        Remedy(
            ("set TF_MIN_GPU_MULTIPROCESSOR_COUNT=2   # or the number in the message; before the start",),
            WINDOWS,
        ),
        Remedy(
            ("export TF_MIN_GPU_MULTIPROCESSOR_COUNT=2   # or the number in the message; before the start",)
        ),
    ),
    verify=LIST_GPUS,
    clues=(
        Clue(
            3.4,
            Says(
                r"ignoring (visible )?gpu device .{0,160}(multiprocessor count|core count)",
                r"tf_min_gpu_multiprocessor_count",
                r"multiprocessor count: ?\d{1,2}\. ?the minimum",
            ),
        ),
    ),
    commonness=0,
    decide="Which reason does the line 'Ignoring visible gpu device' give: multiprocessors or compute capability?",
    fires=(
        Case(
            log=(
                "Ignoring visible gpu device (device: 1, name: GeForce GT 1030) with core count: 3. The "
                "minimum required count is 8. You can adjust this requirement with the env var "
                "TF_MIN_GPU_MULTIPROCESSOR_COUNT."
            )
        ),
    ),
    silent=(
        Case(
            log=(
                "Ignoring visible gpu device with Cuda compute capability 3.0. The minimum required Cuda "
                "capability is 3.5."
            )
        ),
    ),
)
