"""The model computes in float64."""

from steptime.diagnosis.condition import is_
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

RULE = SpeedRule(
    kind="float64",
    title="The step computes in float64.",
    cause=(
        "float64 moves twice the bytes and computes at half the rate of float32 on a processor, at a thirty-second "
        "or sixty-fourth on most GPUs. Training does not need it."
    ),
    when=is_("float_type", "float64"),
    saving=Saving(
        names=("compute_s", "memory_s", "float64_slowdown"),
        calculate=lambda compute, memory, slowdown: compute * (1 - 1 / slowdown) + memory / 2,
        how=(
            "products and convolutions ({compute_s}) at the measured rate of float32, {float64_slowdown} times as "
            "high, and half of the bytes ({memory_s})"
        ),
    ),
    ways=(
        Way(
            lines=("keras.config.set_floatx('float32')  # and no dtype='float64' in layers or data",),
            changes_results=True,
        ),
    ),
    clear="Nothing is computed in float64.",
    explains=("precision", "huge-dense", "elementwise-chain"),
    fires=(
        {
            "float_type": "float64",
            "compute_s": 0.006,
            "memory_s": 0.002,
            "float64_slowdown": 2.0,
            "step_s": 0.01,
        },
    ),
    silent=(
        {
            "float_type": "float32",
            "compute_s": 0.006,
            "memory_s": 0.002,
            "float64_slowdown": 2.0,
            "step_s": 0.01,
        },
    ),
)
