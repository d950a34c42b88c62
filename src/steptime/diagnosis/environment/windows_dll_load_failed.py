"""Windows: the native TensorFlow library can't be loaded."""

from steptime.diagnosis.condition import Says, is_
from steptime.diagnosis.environment.commands import IMPORT
from steptime.diagnosis.environment.places import WINDOWS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="windows-dll-load-failed",
    title="Windows can't load TensorFlow's native library.",
    cause=(
        "A DLL that TensorFlow needs is absent or too old: most often the Microsoft Visual C++ "
        "runtime; else a 32-bit Python, a processor without AVX, or a clash with other DLLs."
    ),
    remedies=(
        Remedy(
            (
                "winget install --id Microsoft.VCRedist.2015+.x64 --force   # then restart Windows",
                "python -c \"import struct; print(struct.calcsize('P') * 8)\"   # must print 64",
                "python -m pip install --force-reinstall --no-cache-dir tensorflow",
            )
        ),
    ),
    verify=IMPORT,
    clues=(
        Clue(
            3,
            Says(
                r"dll load failed while importing _pywrap_tensorflow",
                r"dll load failed(?! while importing _pywrap_\w{0,20}metal).{0,200}(tensorflow|native runtime)",
                r"_pywrap_tensorflow\w{0,30}\.py.{0,600}dll load failed",
                r"importerror: dll load failed.{0,400}failed to load the native tensorflow",
                r"dynamic link library \(dll\) initialization routine failed",
                r"could not find the dll\(s\) 'msvcp140",
                r"msvcp140(_1)?\.dll",
            ),
        ),
        Clue(2.2, Says(r"dll load failed")),
        Clue(0.5, WINDOWS),
    ),
    commonness=3,
    unless=(is_("os", "linux", "macos"),),
    consequences=("windows-native-no-gpu", "python-unsupported"),
    decide="Was the Visual C++ runtime installed recently? (winget list VCRedist)",
    fires=(
        Case(
            log=(
                "ImportError: DLL load failed while importing _pywrap_tensorflow_internal: The specified "
                "module could not be found.\n\nFailed to load the native TensorFlow runtime."
            ),
            stated=("platform=windows", "tensorflow=2.16"),
        ),
    ),
    silent=(
        Case(
            log="ImportError: libcudart.so.11.0: cannot open shared object file", stated=("platform=linux",)
        ),
    ),
)
