"""The GPU lowers its clocks."""

from steptime.diagnosis.condition import Says, is_
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="gpu-throttled",
    title="The GPU lowers its clocks because of heat or its power limit.",
    cause=(
        "The driver reports a reason for which the clocks are below what the card can do: cooling, a "
        "power limit, or a power cable."
    ),
    remedies=(
        Remedy(
            (
                "nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER",
                (
                    "# clean the cooling, raise the fan speed, give the case air; power limit: sudo nvidia-smi "
                    "-pl WATTS, up to the card's maximum"
                ),
            )
        ),
    ),
    verify="nvidia-smi -q -d PERFORMANCE",
    clues=(
        Clue(2.4, is_("throttle", "thermal", "power", "power brake")),
        Clue(2.2, Says(r"thermal slowdown ?: ?active", r"hw (power brake|thermal) slowdown ?: ?active")),
    ),
    commonness=1,
    slow=True,
    clear=("The GPU does not lower its clocks.", is_("throttle", "none")),
    fires=(Case(stated=("throttle=thermal",)),),
    silent=(Case(stated=("throttle=none",)),),
)
