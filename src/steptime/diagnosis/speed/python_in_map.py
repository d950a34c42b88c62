"""A map of the input pipeline calls Python."""

from steptime.diagnosis.condition import is_
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

RULE = SpeedRule(
    kind="python-in-map",
    title="A map of the input pipeline calls Python, and a step waits {input_s} for input.",
    cause=(
        "py_function and numpy_function take Python's lock: calls queue up however many run in parallel, unless "
        "they wait or spend their time inside NumPy."
    ),
    applies=is_("source", "dataset"),
    when=is_("python_maps", True),
    saving=Saving(
        names=("input_s",),
        calculate=lambda input_s: input_s,
        how="measured: all that a step waits for input",
    ),
    ways=(Way(lines=("# write the function in tf operations, or do its work once and store the result",)),),
    clear="No map calls Python.",
    fires=(
        {"source": "dataset", "python_maps": True, "sequential_maps": 0, "input_s": 0.02, "step_s": 0.03},
    ),
    silent=({"source": "dataset", "python_maps": False, "input_s": 0.02, "step_s": 0.03},),
)
