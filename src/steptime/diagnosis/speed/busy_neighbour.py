"""Other processes use the same device."""

from steptime.diagnosis.condition import is_, more
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

RULE = SpeedRule(
    kind="busy-neighbour",
    title="Other processes use {other_work_share} of the device that this run trains on.",
    cause="The processors, or the GPU, are shared: what others use is not there for the training.",
    when=more("other_work_share", 0.15),
    saving=Saving(
        names=("host_s", "compute_s", "memory_s", "other_work_share"),
        calculate=lambda host, compute, memory, other: (host + compute + memory) * min(other, 1.0),
        how=(
            "their share of the device ({other_work_share}; this run had {own_work_share}) of the time that the step"
            " spends on it"
        ),
    ),
    ways=(
        Way(
            lines=("nvidia-smi  # lists the processes on the GPU",),
            where=is_("device", "gpu"),
        ),
        Way(lines=("top  # end them, let them wait, or train elsewhere",)),
    ),
    clear="Nobody else uses the device.",
    fires=(
        {
            "other_work_share": 0.5,
            "own_work_share": 0.45,
            "host_s": 0.001,
            "compute_s": 0.008,
            "memory_s": 0.001,
            "step_s": 0.01,
        },
    ),
    silent=({"other_work_share": 0.03, "own_work_share": 0.9, "step_s": 0.01},),
)
