"""Several TensorFlow distributions, or a file that hides TensorFlow."""

from steptime.diagnosis.condition import Check, Says
from steptime.diagnosis.environment.commands import IMPORT, INSTALL, NEW_VENV_WINDOWS
from steptime.diagnosis.environment.places import WINDOWS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="two-tf-packages",
    title="Several TensorFlow packages, or a file of the same name, damage each other.",
    cause=(
        "tensorflow, tensorflow-cpu, tensorflow-gpu, tf-nightly, tensorflow-intel and "
        "tensorflow-macos all write the folder tensorflow/: installing or removing one damages the "
        "other. A tensorflow.py beside the script hides the package."
    ),
    remedies=(
        Remedy(
            (
                "python -m pip uninstall -y tensorflow tensorflow-cpu tensorflow-gpu tf-nightly tensorflow-intel keras",
                NEW_VENV_WINDOWS,
                "python -m pip install tensorflow",
            ),
            WINDOWS,
        ),
        Remedy(
            (
                (
                    "python -m pip uninstall -y tensorflow tensorflow-cpu tensorflow-gpu tf-nightly "
                    "tensorflow-intel tensorflow-macos keras"
                ),
                'rm -rf "$(python -c \'import sysconfig; print(sysconfig.get_path("purelib"))\')/tensorflow"',
                INSTALL,
                "# a file tensorflow.py of your own in the current folder must get another name",
            )
        ),
    ),
    verify=IMPORT,
    clues=(
        Clue(3, Check("tensorflow_packages", test=lambda names: len(names) > 1)),
        Clue(3, Check("local_shadow", test=lambda name: str(name) != "none")),
        Clue(
            3,
            Says(
                (
                    r"module 'tensorflow' has no attribute '(?!contrib|placeholder|session|configproto|app|flags|"
                    r"gfile|logging|get_default_graph|global_variables|variable_scope|set_random_seed|log'|"
                    r"optimizers|reset_default|div|to_float)"
                ),
                (
                    r"module 'tensorflow\.python'? has no attribute|module 'tensorflow(\.\w{1,20}){0,3}' has no "
                    r"attribute '__version__'"
                ),
                r"file \"[^\"]{0,100}tensorflow\.py\", line",
                r"tensorflow'? \(unknown location\)",
                r"namespace\(?path.{0,40}tensorflow",
                r"no module named 'tensorflow\.python'(?!\.)",
                r"(?<!_)tensorflow\.py.{0,40}(current folder|same name|shadow)",
                r"cannot import name '\w{1,30}' from partially initialized module 'tensorflow'",
                r"no module named 'tensorflow\.python(\.(eager|tools|framework|platform)(\.\w{1,20})?)?'",
            ),
        ),
        Clue(
            2.4,
            Says(
                r"both tensorflow and tensorflow-(cpu|gpu)",
                r"tensorflow(==)?\d\.\d{1,2}\.\d.{0,3}tensorflow-(cpu|gpu)(==)?\d",
                (
                    r"name: tensorflow ?version: ?\d.{0,600}name: tensorflow-(gpu|cpu)|name: tensorflow-(gpu|cpu)"
                    r".{0,600}name: tensorflow ?version"
                ),
                r"(both|two|several|multiple|more than one) (versions? of |kinds? of )?tensorflow",
                (
                    r"(tensorflow-(cpu|gpu|intel)|tf-nightly).{0,40}(installed|present) (together|beside|both|too|"
                    r"as well|side by side)"
                ),
                r"tensorflow and tensorflow-(gpu|cpu) (are )?(both )?installed",
                r"tensorflow-gpu .{0,6}and .{0,6}tensorflow(?!-)",
                r"invalid distribution -?~?ensorflow",
                r"ignoring invalid distribution.{0,4}ensorflow",
            ),
        ),
    ),
    commonness=2,
    consequences=(
        "cuda-libs-not-installed",
        "keras2-vs-keras3",
        "tensorflow-cpu-build",
        "tensorflow-import-failed",
    ),
    decide="python -m pip list | grep -i tensorflow",
    clear=(
        "Exactly one TensorFlow package is installed.",
        Check("tensorflow_packages", test=lambda names: len(names) == 1),
    ),
    fires=(
        Case(log="AttributeError: module 'tensorflow' has no attribute 'keras'", stated=("platform=linux",)),
        Case(stated=("env=both tensorflow and tensorflow-cpu are installed",)),
    ),
    silent=(Case(log="AttributeError: module 'tensorflow' has no attribute 'placeholder'"),),
)
