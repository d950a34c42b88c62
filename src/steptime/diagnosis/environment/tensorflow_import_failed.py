"""TensorFlow is installed and can't be imported."""

from steptime.diagnosis.condition import is_
from steptime.diagnosis.environment.commands import IMPORT, INSTALL, NEW_VENV, NEW_VENV_WINDOWS
from steptime.diagnosis.environment.places import WINDOWS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="tensorflow-import-failed",
    title="TensorFlow is installed, but importing it fails.",
    cause=(
        "The import ended with the error shown; the packages in this environment do not fit each "
        "other, or an installation is damaged."
    ),
    remedies=(
        Remedy((NEW_VENV_WINDOWS, "python -m pip install tensorflow"), WINDOWS),
        Remedy((NEW_VENV + "   # a fresh environment is the quickest way", INSTALL)),
    ),
    verify=IMPORT,
    clues=(
        Clue(2.2, is_("tensorflow_state", "failed", "crashed")),
        Clue(2.0, is_("tensorflow_state", "timeout")),
    ),
    commonness=0,
    decide=IMPORT,
    clear=("TensorFlow can be imported.", is_("tensorflow_state", "ok")),
    fires=(Case(stated=("platform=linux", "tensorflow_state=crashed")),),
    silent=(Case(stated=("platform=linux", "tensorflow_state=ok")),),
)
