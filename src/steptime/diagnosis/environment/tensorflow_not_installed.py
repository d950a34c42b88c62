"""TensorFlow is not installed."""

from steptime.diagnosis.condition import Check, Says, is_
from steptime.diagnosis.environment.commands import IMPORT, INSTALL, INSTALL_CPU
from steptime.diagnosis.environment.places import MACOS, WINDOWS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="tensorflow-not-installed",
    title="TensorFlow is not installed in this Python.",
    cause="The Python that runs this command has no TensorFlow package; another environment may have one.",
    remedies=(
        Remedy(
            ("python -m pip install tensorflow   # native Windows: CPU only; for a GPU use WSL2",), WINDOWS
        ),
        Remedy((INSTALL_CPU,), MACOS),
        Remedy((INSTALL + "   # NVIDIA GPU; without one: python -m pip install tensorflow-cpu",)),
    ),
    verify=IMPORT,
    clues=(
        Clue(2.8, is_("tensorflow_state", "absent")),
        Clue(2.6, Says(r"no module named '?tensorflow'?(?![.\w])")),
    ),
    commonness=3,
    consequences=("jupyter-other-kernel",),
    decide="python -m pip show tensorflow",
    clear=("TensorFlow is installed.", Check("tensorflow_packages", test=bool)),
    fires=(Case(log="ModuleNotFoundError: No module named 'tensorflow'", stated=("platform=linux",)),),
    silent=(Case(log="No module named 'tensorflow.python'", stated=("platform=linux",)),),
)
