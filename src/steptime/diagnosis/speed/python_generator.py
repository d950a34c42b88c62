"""Batches come out of a Python generator, one at a time."""

from steptime.diagnosis.condition import All, Any, is_, less
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

_ONE_WORKER = All(is_("source", "pydataset"), less("workers", 2))

RULE = SpeedRule(
    kind="python-generator",
    title="A Python generator makes the batches, and a step waits {input_s} for it.",
    cause=(
        "Python makes one batch at a time, in one thread that holds the interpreter's lock, while the device "
        "waits. TensorFlow can neither run it in parallel nor see into it."
    ),
    when=Any(is_("source", "generator"), is_("from_generator", True), _ONE_WORKER),
    saving=Saving(
        names=("input_s",),
        calculate=lambda input_s: input_s,
        how="measured: the step less the same step on a batch that lies in memory",
    ),
    ways=(
        Way(
            lines=("# keras.utils.PyDataset(workers=4, use_multiprocessing=True, max_queue_size=16)",),
            where=is_("source", "pydataset"),
        ),
        Way(
            lines=(
                "# load_data(): return arrays if they fit into memory; they are kept beside the device",
                (
                    "# else: tf.data.Dataset.from_tensor_slices(files).map(read, num_parallel_calls=tf.data.AUTOTUNE)"
                    ".batch(n).prefetch(tf.data.AUTOTUNE)"
                ),
            )
        ),
    ),
    clear="No Python generator makes the batches.",
    fires=(
        {"source": "generator", "input_s": 0.008, "step_s": 0.01},
        {
            "source": "dataset",
            "from_generator": True,
            "sequential_maps": 1,
            "ends_in_prefetch": True,
            "input_s": 0.008,
            "step_s": 0.01,
        },
        {"source": "pydataset", "workers": 1, "input_s": 0.008, "step_s": 0.01},
    ),
    silent=(
        {"source": "generator", "input_s": 0.0001, "step_s": 0.01},
        {"source": "dataset", "from_generator": False, "input_s": 0.008, "step_s": 0.01},
        {"source": "pydataset", "workers": 4, "input_s": 0.008, "step_s": 0.01},
    ),
)
