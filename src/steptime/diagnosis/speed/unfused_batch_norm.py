"""Batch normalisation runs as dozens of small ops."""

from steptime.diagnosis.condition import All, is_, more
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

RULE = SpeedRule(
    kind="unfused-batch-norm",
    title="{batch_norms} batch normalisation layers run as single ops and take {batch_norm_s} of a step.",
    cause="Keras 3 writes batch normalisation as 37 ops. One fused kernel gives the same numbers.",
    when=All(more("batch_norms", 0), is_("xla", False), is_("exact_kernels_used", False)),
    saving=Saving(
        names=("batch_norm_s",),
        calculate=lambda part: part,
        how="all of the time in batch normalisation ({batch_norm_s}), from the trace",
    ),
    ways=(Way(patch={"exact_kernels": "on", "loop": "graph"}),),
    clear="Batch normalisation is fused, or there is none.",
    fires=(
        {"batch_norms": 20, "xla": False, "exact_kernels_used": False, "batch_norm_s": 0.004, "step_s": 0.01},
    ),
    silent=(
        {"batch_norms": 20, "xla": False, "exact_kernels_used": True, "batch_norm_s": 0.004, "step_s": 0.01},
        {"batch_norms": 0, "xla": False, "exact_kernels_used": False, "step_s": 0.01},
    ),
)
