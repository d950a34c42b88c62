"""A map handles single elements, where it could handle batches."""

from steptime.diagnosis.condition import All, is_
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

# "about 10 microseconds" for each call of a trivial map: tensorflow.org/guide/data_performance, vectorizing mapping.
_CALL_S = 10e-6

RULE = SpeedRule(
    kind="map-before-batch",
    title="A map is called for each of {batch_size} elements, and a step waits {input_s} for input.",
    cause="Each call of a map costs some 10 µs beside its work; after batch it is called once for all of them.",
    applies=is_("source", "dataset"),
    when=All(is_("map_before_batch", True), is_("python_maps", False)),
    saving=Saving(
        names=("input_s", "batch_size"),
        calculate=lambda input_s, batch: min(input_s, batch * _CALL_S),
        how="10 µs for each of {batch_size} calls, but no more than a step waits for input ({input_s})",
    ),
    ways=(Way(lines=("dataset.batch(n).map(function_of_a_batch, num_parallel_calls=tf.data.AUTOTUNE)",)),),
    clear="No map is called for single elements.",
    source="tensorflow.org/guide/data_performance, section on vectorizing mapping",
    fires=(
        {
            "source": "dataset",
            "map_before_batch": True,
            "python_maps": False,
            "batch_size": 256,
            "input_s": 0.004,
            "step_s": 0.01,
            "sequential_maps": 0,
        },
    ),
    silent=(
        {
            "source": "dataset",
            "map_before_batch": False,
            "python_maps": False,
            "batch_size": 256,
            "input_s": 0.004,
            "step_s": 0.01,
        },
    ),
)
