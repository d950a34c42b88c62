"""``trainable`` set after ``compile`` and a first training."""

from collections.abc import Iterator, Mapping
from typing import Any

from steptime.diagnosis.model.rule import Case, Found, Lint


def _find(trainable: Mapping[str, Any]) -> Iterator[Found]:
    changed = trainable["changed"]
    if changed and trainable["has_trained"]:
        frozen = len(trainable["frozen"])
        yield Found(
            evidence=(
                f"since compile, {frozen} layers were frozen and {len(changed) - frozen} unfrozen: "
                + ", ".join(changed[:4])
                + (" ..." if len(changed) > 4 else "")
            )
        )


def _case(changed: list[str], frozen: list[str], *, has_trained: bool = True) -> Case:
    return Case(facts={"trainable": {"changed": changed, "frozen": frozen, "has_trained": has_trained}})


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
    fires=(_case(["a"], ["a"]), _case(["a", "b"], ["a"])),
    silent=(_case([], []), _case(["a"], ["a"], has_trained=False)),
)
