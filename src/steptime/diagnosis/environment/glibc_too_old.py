"""The system's C library is older than the wheel."""

from steptime.diagnosis.condition import All, Check, Says, below, is_
from steptime.diagnosis.environment.commands import IMPORT
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule
from steptime.environment.versions import compare


def _older(glibc: object, tensorflow: object) -> bool:
    """Wheels are manylinux2014 (glibc 2.17) up to 2.20 and manylinux_2_27 from 2.21 on."""
    needed = "2.27" if compare(str(tensorflow), "2.21") >= 0 else "2.17"
    return compare(str(glibc), needed) < 0


RULE = Rule(
    kind="glibc-too-old",
    title="The system's C library is too old for this TensorFlow.",
    cause="The wheels need glibc 2.17 (up to TensorFlow 2.20) or 2.27 (from 2.21 on); CentOS and RHEL 7 have 2.17.",
    remedies=(
        Remedy(
            (
                "# use a newer system or a container",
                "docker run --rm -it --gpus all tensorflow/tensorflow:latest-gpu bash",
                "python -m pip install 'tensorflow[and-cuda]==2.20.*'   # last release for glibc 2.17",
            )
        ),
    ),
    verify=IMPORT,
    clues=(
        Clue(
            3.4,
            Says(
                r"version [`'\"]?glibc(xx)?_\d\.\d{1,2}(\.\d{1,2})?'? ?not found",
                r"glibc_2\.\d\d' not found",
                r"cxxabi_1\.\d.{0,12}not found",
                r"version .{0,2}glibc",
            ),
        ),
        Clue(2.4, Check("glibc", "tensorflow", test=_older)),
        Clue(2.2, All(below("glibc", "2.27"), Says(r"from versions: .{0,400}2\.20\.0\)"))),
        Clue(2.0, All(below("glibc", "2.27"), is_("tensorflow_state", "absent"))),
    ),
    commonness=1,
    decide="ldd --version",
    clear=(
        "The C library is new enough for TensorFlow's wheels.",
        Check("glibc", "tensorflow", test=lambda glibc, tf: not _older(glibc, tf)),
    ),
    fires=(
        Case(
            log=(
                "ImportError: /lib64/libm.so.6: version `GLIBC_2.27' not found (required by "
                "/opt/venv/lib/python3.10/site-packages/tensorflow/libtensorflow_cc.so.2)"
            ),
            stated=("platform=linux",),
        ),
    ),
    silent=(Case(stated=("platform=linux", "glibc=2.35", "tensorflow=2.21")),),
)
