"""A layer keeps Keras from using XLA."""

from steptime.diagnosis.condition import All, Check, is_
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

RULE = SpeedRule(
    kind="xla-blocked-by-layer",
    title="XLA is off because of {layers_without_xla}.",
    cause=(
        "Keras switches XLA off for the whole model, without a word, when one layer does not support it. XLA joins "
        "the ops of a step into few kernels: fewer launches, fewer trips to memory."
    ),
    applies=is_("device", "gpu"),
    when=All(is_("xla", False), Check("layers_without_xla", test=bool)),
    saving=Saving(
        names=("host_s", "memory_s"),
        calculate=lambda host_s, memory_s: host_s + memory_s,
        how="what joined ops could save: launches ({host_s}) and trips to memory ({memory_s})",
    ),
    ways=(
        Way(
            lines=(
                "# call {layers_without_xla} in the data pipeline: dataset.map(lambda x, y: (layer(x), y))",
            ),
        ),
    ),
    clear="No layer keeps XLA from being used.",
    explains=("xla-off",),
    fires=(
        {
            "xla": False,
            "device": "gpu",
            "layers_without_xla": ("random_rotation (RandomRotation)",),
            "host_s": 0.002,
            "memory_s": 0.003,
            "step_s": 0.008,
        },
    ),
    silent=(
        {
            "xla": False,
            "device": "gpu",
            "layers_without_xla": (),
            "host_s": 0.0,
            "memory_s": 0.0,
            "step_s": 0.008,
        },
        {
            "xla": True,
            "device": "gpu",
            "layers_without_xla": ("random_rotation",),
            "host_s": 0.002,
            "memory_s": 0.003,
            "step_s": 0.008,
        },
    ),
)
