"""The input pipeline does not end in prefetch."""

from steptime.diagnosis.condition import is_
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

RULE = SpeedRule(
    kind="no-prefetch",
    title="The input pipeline does not end in prefetch: it works only while the step does not.",
    cause="Without prefetch the next batch is begun when the step asks for it, so the two take turns.",
    applies=is_("source", "dataset"),
    when=is_("ends_in_prefetch", False),
    saving=Saving(
        names=("input_s", "step_s"),
        calculate=lambda input_s, step_s: min(input_s, step_s - input_s),
        how=(
            "the shorter of two stretches that could overlap: waiting for input ({input_s}) and all else in the step "
            "({step_s} with it)"
        ),
    ),
    ways=(Way(lines=("dataset = dataset.prefetch(tf.data.AUTOTUNE)  # last",)),),
    clear="The input pipeline ends in prefetch.",
    source="tensorflow.org/guide/data_performance, section on prefetching",
    fires=(
        {
            "source": "dataset",
            "ends_in_prefetch": False,
            "sequential_maps": 0,
            "input_s": 0.02,
            "step_s": 0.03,
        },
    ),
    silent=(
        {
            "source": "dataset",
            "ends_in_prefetch": True,
            "input_s": 0.02,
            "step_s": 0.03,
        },
        {
            "source": "arrays",
            "ends_in_prefetch": False,
            "input_s": 0.02,
            "step_s": 0.03,
        },
    ),
)
