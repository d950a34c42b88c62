"""The processor lacks AVX."""

from steptime.diagnosis.condition import Says, is_
from steptime.diagnosis.environment.commands import IMPORT
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="cpu-no-avx",
    title="This processor (or virtual machine) has no AVX, which TensorFlow's wheels need.",
    cause=(
        "The official wheels use AVX instructions since 1.6; old Core 2 and Xeon, many Celeron, "
        "Pentium and Atom processors, and virtual machines with a generic processor model lack them, "
        "and Python dies with an illegal instruction."
    ),
    remedies=(
        Remedy(
            (
                "grep -o -m1 avx /proc/cpuinfo || echo 'no AVX'   # Linux",
                "# a virtual machine: set the processor type to 'host' (pass-through) and start it again",
                "# a real machine without AVX: use another machine or a build of TensorFlow without AVX",
            )
        ),
    ),
    verify=IMPORT,
    clues=(
        Clue(
            2.6,
            Says(
                r"illegal instruction",
                r"sigill",
                r"compiled to use avx2? instructions, but these aren't available",
                r"exit code 132",
                r"0xc000001d",
            ),
        ),
        Clue(2.4, is_("cpu_avx", False)),
    ),
    commonness=2,
    unless=(is_("arch", "aarch64"), is_("cpu_avx", True)),
    consequences=("windows-dll-load-failed", "windows-native-no-gpu", "tensorflow-import-failed"),
    decide="grep -o -m1 avx /proc/cpuinfo",
    clear=("The processor has AVX.", is_("cpu_avx", True)),
    fires=(Case(log="Illegal instruction (core dumped)", stated=("platform=linux",)),),
    silent=(
        Case(
            log=(
                "This TensorFlow binary is optimized to use available CPU instructions in "
                "performance-critical operations.\nTo enable the following instructions: AVX2 FMA"
            )
        ),
    ),
)
