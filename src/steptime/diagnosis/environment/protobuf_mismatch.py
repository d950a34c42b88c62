"""protobuf does not fit TensorFlow's generated code."""

from steptime.diagnosis.condition import Check, Says
from steptime.diagnosis.environment.commands import IMPORT
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule
from steptime.environment.releases import release_of
from steptime.environment.versions import compare


def _outside(protobuf: object, tensorflow: object) -> bool | None:
    """Whether protobuf is outside what the release accepts."""
    release = release_of(str(tensorflow))
    return None if release is None else compare(str(protobuf), release.protobuf_below) >= 0


RULE = Rule(
    kind="protobuf-mismatch",
    title="The installed protobuf does not fit this TensorFlow.",
    cause=(
        "Another package replaced protobuf by a version that TensorFlow's generated code does not "
        "accept (2.21 wants 6.31.1 up to, not including, 8)."
    ),
    remedies=(
        Remedy(
            (
                "python -m pip install --upgrade --force-reinstall tensorflow   # pip restores the range it needs",
                (
                    "# an old TensorFlow: protobuf<3.20 up to 2.11, protobuf<5 for 2.12 to 2.17, protobuf<6 for "
                    "2.18 and 2.19"
                ),
                "python -m pip check",
            )
        ),
    ),
    verify=IMPORT,
    clues=(
        Clue(
            3.4,
            Says(
                r"descriptors cannot (not )?be created directly",
                r"detected incompatible protobuf gencode",
                r"cannot import name 'builder' from 'google\.protobuf",
                r"cannot import name 'runtime_version' from 'google\.protobuf",
                r"versionerror: .{0,80}protobuf",
                r"messagefactory'? object has no attribute 'getprototype'",
                r"'google\.protobuf\.pyext\._message\.\w{1,40}' object has no attribute",
                r"cannot import name '\w{1,30}' from 'google\.protobuf",
                r"no module named 'google\.protobuf'?",
                r"generated code is out of date and must be regenerated with protoc",
                r"file already exists in database: ?.{0,60}\.proto",
                r"couldn't build proto file into descriptor pool",
            ),
        ),
        Clue(2.3, Check("protobuf", "tensorflow", test=_outside)),
    ),
    commonness=3,
    consequences=("tensorflow-import-failed", "windows-native-no-gpu"),
    decide="python -m pip show protobuf",
    clear=(
        "protobuf is in the range that TensorFlow accepts.",
        Check("protobuf", "tensorflow", test=lambda protobuf, tf: _outside(protobuf, tf) is False),
    ),
    fires=(
        Case(
            log=(
                "TypeError: Descriptors cannot be created directly.\nIf this call came from a _pb2.py file, "
                "your generated code is out of date"
            )
        ),
    ),
    silent=(Case(stated=("tensorflow=2.21", "protobuf=7.36.2")),),
)
