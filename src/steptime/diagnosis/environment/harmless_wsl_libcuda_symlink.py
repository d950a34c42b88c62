"""WSL2: libcuda.so.1 is not a symbolic link."""

from steptime.diagnosis.condition import Says
from steptime.diagnosis.environment.commands import LIST_GPUS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="harmless-wsl-libcuda-symlink",
    title="libcuda.so.1 is not a symbolic link (WSL2): harmless.",
    cause="Windows delivers three copies of the file instead of links, and ldconfig only remarks on it.",
    remedies=(Remedy(("# nothing to do",)),),
    verify=LIST_GPUS,
    clues=(Clue(3, Says(r"libcuda\.so\.1 is not a symbolic link")),),
    commonness=2,
    harmless=True,
    fires=(
        Case(
            log="/sbin/ldconfig.real: /usr/lib/wsl/lib/libcuda.so.1 is not a symbolic link",
            stated=("platform=wsl2",),
        ),
    ),
    silent=(Case(log="Could not load dynamic library 'libcuda.so.1'", stated=("platform=wsl2",)),),
)
