"""The same work is done on the same data in every epoch."""

from steptime.diagnosis.condition import All, Check, is_, more
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

_FITS = Check("data_bytes", "memory_left_bytes", test=lambda data, free: data < 0.5 * free)

RULE = SpeedRule(
    kind="no-cache",
    title="The input pipeline does the same work in each of {epochs} epochs, and its result fits into memory.",
    cause="Reading and decoding give the same elements every epoch; cache keeps them after the first.",
    applies=is_("source", "dataset"),
    when=All(
        more("maps", 0),
        is_("cached_maps", False),
        is_("random_maps", False),
        more("epochs", 1),
        _FITS,
    ),
    saving=Saving(
        names=("input_s", "epochs"),
        calculate=lambda input_s, epochs: input_s * (epochs - 1) / epochs,
        how="all that a step waits for input ({input_s}), in all epochs but the first; it needs {data_bytes} of memory",
    ),
    ways=(
        Way(
            lines=(
                "dataset.map(decode, num_parallel_calls=tf.data.AUTOTUNE).cache()  # before shuffle and augmentation",
            )
        ),
    ),
    clear="Nothing that could be cached is done again in every epoch.",
    source="tensorflow.org/guide/data_performance, section on caching",
    fires=(
        {
            "source": "dataset",
            "maps": 1,
            "cached_maps": False,
            "random_maps": False,
            "epochs": 10,
            "data_bytes": 10**6,
            "memory_left_bytes": 10**9,
            "input_s": 0.02,
            "step_s": 0.03,
            "sequential_maps": 0,
        },
    ),
    silent=(
        {
            "source": "dataset",
            "maps": 1,
            "cached_maps": False,
            "random_maps": True,
            "epochs": 10,
            "data_bytes": 10**6,
            "memory_left_bytes": 10**9,
            "input_s": 0.02,
            "step_s": 0.03,
        },
        {
            "source": "dataset",
            "maps": 1,
            "cached_maps": False,
            "random_maps": False,
            "epochs": 10,
            "data_bytes": 10**9,
            "memory_left_bytes": 10**9,
            "input_s": 0.02,
            "step_s": 0.03,
        },
    ),
)
