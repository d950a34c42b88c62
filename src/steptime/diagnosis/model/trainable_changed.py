"""``trainable`` set after ``compile`` and a first training."""

from collections.abc import Iterator, Mapping
from typing import Any

from steptime.diagnosis.model.rule import Case, Found, Lint


def _find(trainable: Mapping[str, Any]) -> Iterator[Found]:
    for words in ("frozen", "unfrozen"):
        layers = trainable[words]
        if layers:
            more = " ..." if len(layers) > 4 else ""
            yield Found(
                evidence=f"{len(layers)} layers {words} since the first step: {', '.join(layers[:4])}{more}"
            )


def _case(frozen: list[str], unfrozen: list[str]) -> Case:
    return Case(facts={"trainable": {"frozen": frozen, "unfrozen": unfrozen}})


LINT = Lint(
    kind="trainable-changed",
    title="trainable was changed after the model was compiled and trained.",
    severity="error",
    consequence=(
        "The step that was compiled stays in use, and Keras 3 gives no warning: a layer frozen since goes on "
        "changing, and one unfrozen does not learn. Between compile and the first fit the change does count."
    ),
    fix="model.compile(optimizer=..., loss=..., metrics=...)   # again, after every change of trainable",
    needs=("trainable",),
    find=_find,
    fires=(_case(["a"], []), _case([], ["a", "b"])),
    silent=(_case([], []),),
)
