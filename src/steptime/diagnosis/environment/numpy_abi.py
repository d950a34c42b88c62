"""NumPy 2 with a TensorFlow that was built for NumPy 1."""

from steptime.diagnosis.condition import Check, Says
from steptime.diagnosis.environment.commands import IMPORT
from steptime.diagnosis.environment.places import WINDOWS_OR_MACOS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule
from steptime.environment.versions import compare


def _clash(numpy: object, tensorflow: object) -> bool:
    """TensorFlow works with NumPy 2 from 2.18 on."""
    return compare(str(numpy), "2") >= 0 and compare(str(tensorflow), "2.18") < 0


RULE = Rule(
    kind="numpy-abi",
    title="NumPy 2 is installed with packages that were compiled for NumPy 1.",
    cause="The binary interface changed in NumPy 2; TensorFlow works with it from 2.18 on.",
    remedies=(
        Remedy(
            (
                'python -m pip install --upgrade "tensorflow>=2.18"',
                'python -m pip install "numpy<2"   # if the old TensorFlow must stay',
            ),
            WINDOWS_OR_MACOS,
        ),
        Remedy(
            (
                "python -m pip install --upgrade 'tensorflow[and-cuda]>=2.18'",
                "python -m pip install 'numpy<2'   # instead, if the old TensorFlow must stay",
            )
        ),
    ),
    verify=IMPORT,
    clues=(
        Clue(
            3.2,
            Says(
                r"a module that was compiled using numpy 1\.\w{1,3} cannot be run in",
                r"_array_api not found",
                r"numpy\.dtype size changed",
                r"numpy\.core\.multiarray failed to import",
                r"numpy\.ndarray size changed",
                r"numpy\.ufunc size changed",
                r"`?np\.(float_|complex_|unicode_|string_|nan|inf)\w{0,3}`? was removed in the numpy 2",
                r"numpy\.core\._multiarray_umath failed to import",
                r"module compiled against a(b|p)i version 0x",
                r"unable to convert function return value to a python type! the signature was \(\) ?-> ?handle",
            ),
        ),
        Clue(2.6, Check("numpy", "tensorflow", test=_clash)),
    ),
    commonness=3,
    consequences=("windows-dll-load-failed", "tensorflow-import-failed", "windows-native-no-gpu"),
    decide='python -c "import numpy; print(numpy.__version__)"',
    clear=(
        "NumPy and TensorFlow fit each other.",
        Check("numpy", "tensorflow", test=lambda numpy, tf: not _clash(numpy, tf)),
    ),
    fires=(
        Case(log="A module that was compiled using NumPy 1.x cannot be run in\nNumPy 2.0.0 as it may crash."),
        Case(stated=("tensorflow=2.15.1", "numpy=2.1.0", "platform=linux")),
    ),
    silent=(Case(stated=("tensorflow=2.21.0", "numpy=2.4.6", "platform=linux")),),
)
