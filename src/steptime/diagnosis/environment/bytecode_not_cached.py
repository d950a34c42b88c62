"""Each start compiles TensorFlow's Python files again."""

from steptime.diagnosis.condition import All, Any, is_
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="bytecode-not-cached",
    title="Each start compiles TensorFlow's Python files again.",
    cause=(
        "The package has no cached bytecode, and Python may not or must not write it; importing "
        "TensorFlow then costs about 16 s of processor time instead of 6."
    ),
    remedies=(
        Remedy(
            (
                "unset PYTHONDONTWRITEBYTECODE",
                "export PYTHONPYCACHEPREFIX=$HOME/.cache/python   # if the packages' folder is read-only",
                (
                    "python -m compileall -q $(python -c 'import sysconfig; "
                    'print(sysconfig.get_path("purelib"))\')/tensorflow   # or once, in the Dockerfile'
                ),
            )
        ),
    ),
    verify="python -X importtime -c 'import tensorflow' 2>&1 | tail -1",
    clues=(
        Clue(
            2.2,
            All(
                is_("bytecode_cached", False), Any(is_("bytecode_off", True), is_("bytecode_writable", False))
            ),
        ),
    ),
    commonness=1,
    slow=True,
    clear=("TensorFlow's bytecode is cached.", is_("bytecode_cached", True)),
    fires=(Case(stated=("bytecode_cached=no", "bytecode_off=yes", "bytecode_writable=yes")),),
    silent=(Case(stated=("bytecode_cached=yes", "bytecode_off=yes", "bytecode_writable=yes")),),
)
