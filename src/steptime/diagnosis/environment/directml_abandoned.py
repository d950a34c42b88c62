"""The DirectML plugin was given up in 2023."""

from steptime.diagnosis.condition import All, Check, Says, at_least, is_
from steptime.diagnosis.environment.commands import LIST_GPUS, WSL_STEPS
from steptime.diagnosis.environment.places import NVIDIA_GPU
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule
from steptime.environment.versions import compare

RULE = Rule(
    kind="directml-abandoned",
    title="TensorFlow's DirectML plugin is abandoned and fits TensorFlow 2.10 only.",
    cause=(
        "Its development stopped in 2023: it works with tensorflow-cpu 2.10 and Python 3.10 or older,"
        " and nothing newer."
    ),
    remedies=(
        Remedy(("# NVIDIA GPU: use WSL2 with CUDA instead", *WSL_STEPS), NVIDIA_GPU),
        Remedy(
            (
                "# NVIDIA GPU: use WSL2 with CUDA. Any other GPU: an environment of its own with Python 3.10",
                'python -m pip install tensorflow-cpu==2.10 tensorflow-directml-plugin "numpy<2"',
            )
        ),
    ),
    verify=LIST_GPUS,
    clues=(
        Clue(
            3.5,
            Says(
                r"tfdml_plugin",
                r"tensorflow[-_]directml",
                r"libdirectml\.",
                r"could not load directml",
                r"directml device enumeration: found 0",
            ),
        ),
        Clue(2.2, Says(r"directml")),
        Clue(2.5, All(is_("directml", "any"), at_least("tensorflow", "2.11"))),
        Clue(2.5, Check("directml", "tensorflow", test=lambda _, tf: compare(str(tf), "2.11") >= 0)),
    ),
    commonness=1,
    consequences=("windows-native-no-gpu", "python-unsupported", "windows-dll-load-failed"),
    decide="python -m pip list (is tensorflow-directml-plugin there?)",
    fires=(
        Case(
            log="ERROR: No matching distribution found for tensorflow-directml-plugin",
            stated=("platform=windows", "python=3.11"),
        ),
    ),
    silent=(Case(stated=("platform=windows", "tensorflow=2.17")),),
)
