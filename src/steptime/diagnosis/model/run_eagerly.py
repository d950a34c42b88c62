"""Eager execution, left on after debugging."""

from collections.abc import Iterator, Mapping
from typing import Any

from steptime.diagnosis.model.rule import Case, Found, Lint

_SWITCHES = {
    "run_eagerly": ("compile(run_eagerly=True)", "model.compile(...)   # without run_eagerly=True"),
    "functions": ("tf.config.run_functions_eagerly(True)", "tf.config.run_functions_eagerly(False)"),
    "data_debug_mode": (
        "tf.data.experimental.enable_debug_mode()",
        "# remove tf.data.experimental.enable_debug_mode(): it can't be taken back in a process",
    ),
}


def _find(eager: Mapping[str, Any]) -> Iterator[Found]:
    for name, (words, fix) in _SWITCHES.items():
        if eager[name]:
            yield Found(evidence=f"{words} is in force", fix=fix)


def _case(**on: bool) -> Case:
    return Case(facts={"eager": dict.fromkeys(_SWITCHES, False) | on})


LINT = Lint(
    kind="run-eagerly",
    title="Steps run eagerly: Python executes them operation by operation.",
    severity="warning",
    consequence=(
        "No graph, no fusion, no XLA, and steptime's loops can't be used: often ten times slower. It is "
        "meant for a debugger."
    ),
    fix="model.compile(...)   # without run_eagerly=True",
    needs=("eager",),
    find=_find,
    fires=(_case(run_eagerly=True), _case(functions=True), _case(data_debug_mode=True)),
    silent=(_case(),),
)
