"""The extra [and-cuda] can't be installed."""

from steptime.diagnosis.condition import All, Says, at_least, below
from steptime.diagnosis.environment.commands import INSTALL, INSTALL_CPU, LIST_GPUS, WSL_STEPS
from steptime.diagnosis.environment.places import MACOS, WINDOWS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="and-cuda-extra-unresolvable",
    title="The extra [and-cuda] can't be installed as it was written or for this release.",
    cause=(
        "The extra of 2.14 and 2.15.0 asks for TensorRT packages that the package index does not "
        "have; zsh takes unquoted brackets as a pattern; the NVIDIA wheels exist for Linux only."
    ),
    remedies=(
        Remedy(
            ("python -m pip install tensorflow   # native Windows: CPU only; for the GPU:", *WSL_STEPS),
            WINDOWS,
        ),
        Remedy((INSTALL_CPU,), MACOS),
        Remedy((INSTALL, "# quotes are needed; if 2.15 is a must: 'tensorflow[and-cuda]==2.15.1'")),
    ),
    verify=LIST_GPUS,
    clues=(
        Clue(
            3.4,
            Says(
                r"no matching distribution found for tensorrt",
                r"requirement tensorrt",
                r"tensorrt-(libs|bindings)==.{0,40}extra == .{0,2}and-cuda",
                r"no matches found: ?.{0,40}\[and[-_]cuda\]",
                r"no matches found: ?tensorflow\[",
                (
                    r"(no matching distribution found for|could not find a version that satisfies the requirement|"
                    r"unable to find installation candidates for) nvidia-\w{1,20}-cu1"
                ),
                r"nvidia-\w{1,20}-cu1[12].{0,80}no matching distribution",
                r"failed building wheel for tensorrt|tensorrt.{0,60}metadata-generation-failed",
                r"does not provide the extra .?and-cuda",
                r"nvidia-\w{1,20}-cu1[12].{0,120}has no wheels with a matching",
                r"depends on tensorrt",
            ),
        ),
        Clue(0.5, All(at_least("tensorflow", "2.14"), below("tensorflow", "2.16"))),
    ),
    commonness=2,
    consequences=(
        "python-unsupported",
        "windows-native-no-gpu",
        "cuda-libs-not-installed",
        "and-cuda-libs-not-found",
        "harmless-tensorrt",
    ),
    decide="Which package name does pip's last ERROR line hold: tensorflow, tensorrt or nvidia-...?",
    fires=(
        Case(
            log='ERROR: No matching distribution found for tensorrt-libs==8.6.1; extra == "and-cuda"',
            stated=("platform=linux", "tensorflow=2.15.0"),
        ),
        Case(log="zsh: no matches found: tensorflow[and-cuda]"),
    ),
    silent=(Case(log="TF-TRT Warning: Could not find TensorRT", stated=("tensorflow=2.15",)),),
)
