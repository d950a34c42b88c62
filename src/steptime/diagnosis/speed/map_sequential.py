"""A map of the input pipeline runs one call at a time."""

from steptime.diagnosis.condition import is_, more
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

RULE = SpeedRule(
    kind="map-sequential",
    title="A map of the input pipeline runs one call at a time, and a step waits {input_s} for input.",
    cause="Without num_parallel_calls one thread reads, decodes and changes every element, while others idle.",
    applies=is_("source", "dataset"),
    when=more("sequential_maps", 0),
    saving=Saving(
        names=("input_s",),
        calculate=lambda input_s: input_s,
        how=(
            "measured: all that a step waits for input. Calls that compute can go {cores_usable} at a time here, "
            "calls that wait for disk, network or a sleep many more"
        ),
    ),
    ways=(Way(lines=("dataset.map(function, num_parallel_calls=tf.data.AUTOTUNE)",)),),
    clear="All maps of the input pipeline run in parallel, or there are none.",
    source="tensorflow.org/guide/data_performance, section on parallelizing data transformation",
    fires=(
        {
            "source": "dataset",
            "sequential_maps": 1,
            "maps": 1,
            "input_s": 0.02,
            "step_s": 0.03,
            "resident_step_s": 0.01,
            "ends_in_prefetch": False,
            "python_maps": True,
            "input_alone_s": 0.02,
            "cores_usable": 2.0,
        },
    ),
    silent=(
        {"source": "dataset", "sequential_maps": 0, "input_s": 0.02, "step_s": 0.03},
        {"source": "dataset", "sequential_maps": 1, "input_s": 0.0002, "step_s": 0.03},
    ),
)
