"""The optimizer runs as many small ops for each variable."""

from steptime.diagnosis.condition import All, is_
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

RULE = SpeedRule(
    kind="unfused-optimizer",
    title="{optimizer} updates {variables} variables op by op and takes {optimizer_s} of a step.",
    cause="Keras 3 writes Adam as some 22 ops for each variable. One fused kernel gives the same numbers.",
    when=All(
        is_("optimizer", "Adam", "AdamW"),
        is_("xla", False),
        is_("exact_kernels_used", False),
    ),
    saving=Saving(
        names=("optimizer_s",),
        calculate=lambda part: part,
        how="all of the time in the update ({optimizer_s}), from the trace",
    ),
    ways=(Way(patch={"exact_kernels": "on", "loop": "graph"}),),
    clear="The optimizer's update is fused, or needs no fusing.",
    fires=(
        {
            "optimizer": "Adam",
            "variables": 60,
            "xla": False,
            "exact_kernels_used": False,
            "optimizer_s": 0.004,
            "step_s": 0.01,
        },
    ),
    silent=(
        {"optimizer": "SGD", "xla": False, "exact_kernels_used": False, "optimizer_s": 0.004, "step_s": 0.01},
        {"optimizer": "Adam", "xla": True, "exact_kernels_used": False, "optimizer_s": 0.004, "step_s": 0.01},
    ),
)
