"""NUMA node read from SysFS had negative value."""

from steptime.diagnosis.condition import Says
from steptime.diagnosis.environment.commands import LIST_GPUS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="harmless-numa",
    title="NUMA node read from SysFS had negative value: harmless.",
    cause="Consumer boards, virtual machines and WSL2 have no NUMA entry for the GPU; node 0 is used.",
    remedies=(Remedy(("# nothing to do",)),),
    verify=LIST_GPUS,
    clues=(
        Clue(
            3,
            Says(
                r"numa node read from sysfs had negative value.{0,40}",
                r"could not open file to read numa node.{0,60}",
                r"your kernel may (not )?have been built without numa support",
                r"could not identify numa node of platform gpu id.{0,80}",
                r"returning numa node zero",
            ),
        ),
    ),
    commonness=3,
    harmless=True,
    fires=(
        Case(
            log=(
                "successful NUMA node read from SysFS had negative value (-1), but there must be at least "
                "one NUMA node, so returning NUMA node zero"
            )
        ),
    ),
    silent=(Case(log="failed call to cuInit: CUDA_ERROR_NO_DEVICE"),),
)
