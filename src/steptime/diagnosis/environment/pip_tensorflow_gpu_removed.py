"""The package tensorflow-gpu no longer exists."""

from steptime.diagnosis.condition import Says
from steptime.diagnosis.environment.commands import INSTALL, INSTALL_CPU, LIST_GPUS, WSL_STEPS
from steptime.diagnosis.environment.places import COLAB, MACOS, NOT_NVIDIA, WINDOWS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="pip-tensorflow-gpu-removed",
    title="The package name tensorflow-gpu is dead.",
    cause=(
        "The package index holds only an empty tensorflow-gpu 2.12.0 whose set-up fails on purpose; "
        "the GPU build is part of the package tensorflow since 2.1."
    ),
    remedies=(
        Remedy(
            ("# Colab and Kaggle bring a working TensorFlow: remove the line; choose a GPU runtime",), COLAB
        ),
        Remedy(
            (
                "python -m pip install tensorflow   # CPU only on native Windows since 2.11; for the GPU:",
                *WSL_STEPS,
            ),
            WINDOWS,
        ),
        Remedy((INSTALL_CPU,), MACOS),
        Remedy((INSTALL_CPU, "# the CUDA build can't use this GPU"), NOT_NVIDIA),
        Remedy(
            (
                INSTALL,
                "# and replace the name tensorflow-gpu in requirements files and in set-up files of other packages",
            )
        ),
    ),
    verify=LIST_GPUS,
    clues=(
        Clue(
            3.4,
            Says(
                r"tensorflow[-_]gpu-2\.12\.0",
                r"\"?tensorflow-gpu\"? package has been removed",
                r"tensorflow-gpu.{0,400}(subprocess-exited-with-error|metadata-generation-failed|egg_info)",
                r"(subprocess-exited-with-error|metadata-generation-failed).{0,1500}tensorflow-gpu",
                r"no matching distribution found for tensorflow-gpu(?!==(1\.|2\.([0-9]|1[01])(?!\d)))",
                r"python_requires.{0,200}python_version>\"3\.7\"",
                r"expected end or semicolon.{0,200}python_version>",
            ),
        ),
        Clue(
            2.2,
            Says(r"pip3? install .{0,40}tensorflow[-_]gpu(?!\w|.{0,2}[=<~]=? ?(1|2\.([0-9]|1[01])(?!\d)))"),
        ),
        Clue(
            2.0,
            Says(
                r"could not find a version that satisfies the requirement tensorflow-gpu(?!==(1\.|2\.([0-9]|"
                r"1[01])(?!\d)))"
            ),
        ),
    ),
    commonness=3,
    consequences=(
        "windows-native-no-gpu",
        "amd-gpu-no-cuda-build",
        "tensorflow-not-installed",
        "arm64-no-cuda-wheel",
    ),
    decide="Which package name does the command or requirements file hold: tensorflow or tensorflow-gpu?",
    fires=(
        Case(
            log=(
                "Collecting tensorflow-gpu\n  Downloading tensorflow-gpu-2.12.0.tar.gz (2.6 kB)\n  error: "
                "subprocess-exited-with-error\n  x python setup.py egg_info did not run successfully."
            ),
            stated=("platform=linux",),
        ),
    ),
    silent=(
        Case(
            log="Collecting tensorflow\nSuccessfully installed tensorflow-2.21.0", stated=("platform=linux",)
        ),
    ),
)
