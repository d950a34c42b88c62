"""Messages about the delay kernel."""

from steptime.diagnosis.condition import Says
from steptime.diagnosis.environment.commands import LIST_GPUS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="harmless-delay-kernel",
    title="Delay kernel messages: harmless.",
    cause="They concern only how exactly XLA times candidates while it tunes.",
    remedies=(Remedy(("# nothing to do",)),),
    verify=LIST_GPUS,
    clues=(
        Clue(3, Says(r"skipping the delay kernel.{0,40}", r"delay kernel timed out.{0,80}", r"delay kernel")),
    ),
    commonness=2,
    harmless=True,
    fires=(
        Case(
            log=(
                "I0000 00:00:1723232760.061207 1704934 gpu_timer.cc:114] Skipping the delay kernel, "
                "measurement accuracy will be reduced"
            )
        ),
    ),
    silent=(Case(log="device kernel image is invalid"),),
)
