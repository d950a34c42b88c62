"""The device lowers its clocks."""

from steptime.diagnosis.condition import more
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

RULE = SpeedRule(
    kind="throttled",
    title="The device lowered its clocks during {throttled_share} of the run ({throttle_reasons}).",
    cause="Heat or a power limit keep the device below the clocks that it can have.",
    when=more("throttled_share", 0.05),
    saving=Saving(
        names=("compute_s", "memory_s", "throttled_share"),
        calculate=lambda compute, memory, part: (compute + memory) * part,
        how="work on the device ({compute_s} and {memory_s}) in {throttled_share} of the time; by how much the clocks"
        " were lower is not known",
    ),
    ways=(
        Way(
            lines=(
                "nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER",
                "# clean the cooling; raise the power limit up to the card's maximum: sudo nvidia-smi -pl WATTS",
            )
        ),
    ),
    clear="The device kept its clocks.",
    fires=(
        {
            "throttled_share": 0.4,
            "throttle_reasons": ("thermal",),
            "compute_s": 0.006,
            "memory_s": 0.002,
            "step_s": 0.01,
        },
    ),
    silent=({"throttled_share": 0.0, "compute_s": 0.006, "memory_s": 0.002, "step_s": 0.01},),
)
