"""No TensorFlow wheel for this Python, platform or C library."""

from steptime.diagnosis.condition import All, Check, Says, at_least, is_
from steptime.diagnosis.environment.commands import IMPORT, INSTALL, INSTALL_CPU, NEW_VENV, NEW_VENV_WINDOWS
from steptime.diagnosis.environment.places import COLAB, MACOS, WINDOWS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule
from steptime.environment.releases import release_of
from steptime.environment.versions import numbers


def _outside(python: object, tensorflow: object) -> bool | None:
    """Whether a release has no wheel for this Python."""
    release = release_of(str(tensorflow))
    minor = numbers(str(python))
    if release is None or len(minor) < 2:
        return None
    return not (minor[0] == 3 and release.python[0] <= minor[1] <= release.python[1])


RULE = Rule(
    kind="python-unsupported",
    title="TensorFlow has no wheel for this Python or platform.",
    cause=(
        "Each release has wheels for a fixed range of Python versions (2.21: 3.10 to 3.13), 64 bit "
        "only, and none for musl Linux or, since 2.17, for Intel Macs; pip then finds nothing or "
        "only other versions."
    ),
    remedies=(
        Remedy(
            (
                (
                    "# use the TensorFlow that the image brings; an old release needs an older Python, that is a "
                    "local environment"
                ),
            ),
            COLAB,
        ),
        Remedy(
            (
                NEW_VENV_WINDOWS,
                "python -m pip install tensorflow   # CPU only on native Windows; for a GPU use WSL2",
            ),
            WINDOWS,
        ),
        Remedy((NEW_VENV, INSTALL_CPU), MACOS),
        Remedy(
            (
                NEW_VENV,
                INSTALL,
                (
                    "# for an old pinned release choose the Python of that release: 2.15 has 3.9 to 3.11, 2.10 "
                    "has 3.7 to 3.10"
                ),
            )
        ),
    ),
    verify=IMPORT,
    clues=(
        Clue(
            3,
            Says(
                (
                    r"no matching distribution found for tensorflow(?!-?_?(gpu|directml|metal|rt|-io|addons|-text|"
                    r"-federated|decision|rocm|-hub|_hub|datasets))"
                ),
                (
                    r"could not find a version that satisfies the requirement tensorflow(?!-?_?(gpu|directml|"
                    r"metal|rt|-io|addons|-text|-federated|rocm))"
                ),
                (
                    r"no matching distribution found for (intel-tensorflow|tensorflow-cpu|tf-nightly|"
                    r"tensorflow-macos|tensorflow-gpu==(1\.|2\.([0-9]|1[01])(?!\d)))"
                ),
                r"could not find a version that satisfies the requirement tensorflow-gpu==(1\.|2\.([0-9]|1[01])(?!\d))",
                r"no matching distribution found for tensorflow-(text|io|io-gcs-filesystem|federated|rocm)",
                r"tensorflow.{0,60}requires[- ]python",
                r"tensorflow.{0,80}(has no wheels with a matching|no solution found when resolving)",
                r"tensorflow.{0,60}\.whl is not a supported wheel on this platform",
                r"because (the )?(current )?python version.{0,80}does not satisfy python.{0,200}tensorflow",
                r"unable to find installation candidates for tensorflow",
                r"tensorflow.{0,60}requires a different python",
                r"unsatisfiableerror.{0,600}tensorflow.{0,60}-> ?python",
                r"tensorflow.{0,40}is not available for (this|your) (python|platform|version)",
                r"tensorflow \(.{1,20}\) (requires|depends on) .{0,20}python",
                r"no matching distribution found for tensorflow-metal",
            ),
        ),
        Clue(
            2.3, Says(r"from versions: none\).{0,200}tensorflow", r"tensorflow.{0,120}from versions: none\)")
        ),
        Clue(
            2.4,
            All(
                is_("tensorflow_state", "absent"),
                Check("python", test=lambda p: not 10 <= (*numbers(str(p)), 0, 0)[1] <= 13),
            ),
        ),
        Clue(2.4, Check("python", "tensorflow_wanted", test=_outside)),
        Clue(2.4, is_("python_bits", 32)),
        Clue(0.5, at_least("python", "3.13")),
    ),
    commonness=3,
    unless=(
        Says(
            r"tensorrt[-_](libs|bindings|cu1\d)",
            r"no matching distribution found for tensorrt",
            r"no matching distribution found for tensorflow-directml",
        ),
    ),
    decide='python -c "import sys, platform; print(sys.version, platform.machine(), platform.libc_ver())"',
    consequences=("windows-native-no-gpu", "tensorflow-not-installed", "glibc-too-old", "colab-other-tf"),
    clear=(
        "This Python has a TensorFlow wheel.",
        Check("python", "tensorflow", test=lambda python, tf: _outside(python, tf) is False or None),
    ),
    fires=(
        Case(
            log=(
                "ERROR: Could not find a version that satisfies the requirement tensorflow (from versions: "
                "none)\nERROR: No matching distribution found for tensorflow"
            ),
            stated=("platform=linux", "python=3.14"),
        ),
        Case(
            log="ERROR: No matching distribution found for tensorflow==2.13.0",
            stated=("platform=colab", "python=3.12"),
        ),
    ),
    silent=(Case(stated=("platform=linux", "python=3.12", "tensorflow=2.21")),),
)
