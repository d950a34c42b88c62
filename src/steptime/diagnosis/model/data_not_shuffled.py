"""A tf.data pipeline that nothing shuffles."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steptime.diagnosis.model.rule import Case, Found, Lint


def _find(pipeline: Sequence[Mapping[str, Any]], label_order: Mapping[str, Any]) -> Iterator[Found]:
    ops = [step["op"] for step in pipeline]
    if not ops or "shuffle" in ops or "generator" in ops:
        return
    shown = " -> ".join(ops)
    changes, expected = label_order.get("changes"), label_order.get("expected_changes")
    if changes is not None and expected and changes < 0.1 * expected:
        yield Found(
            evidence=(
                f"{shown}: no shuffle, and the labels are sorted: they change {changes} times in "
                f"{label_order['samples']} samples, where a random order would give about {expected:.0f}"
            ),
            severity="error",
        )
    else:
        yield Found(evidence=f"{shown}: no shuffle", confidence="medium")


_SORTED = {"samples": 60000, "classes": 10, "changes": 9, "expected_changes": 54000.0}
_MIXED = _SORTED | {"changes": 53871}
_PLAIN = [{"op": "slices"}, {"op": "batch"}, {"op": "prefetch"}]
_SHUFFLED = [{"op": "slices"}, {"op": "shuffle"}, {"op": "batch"}]

LINT = Lint(
    kind="data-not-shuffled",
    title="The tf.data pipeline is not shuffled, and fit does not shuffle it.",
    severity="warning",
    consequence=(
        "fit(shuffle=True) is for arrays; a tf.data.Dataset comes in its own order, each epoch the same. "
        "With sorted labels each batch holds one class, and the model forgets the others."
    ),
    fix="dataset = dataset.shuffle(10_000).batch(32).prefetch(tf.data.AUTOTUNE)   # before batch",
    needs=("pipeline", "label_order"),
    find=_find,
    fires=(
        Case(facts={"pipeline": _PLAIN, "label_order": _SORTED}, severity="error"),
        Case(facts={"pipeline": _PLAIN, "label_order": _MIXED}),
        Case(facts={"pipeline": _PLAIN, "label_order": {}}),
    ),
    silent=(
        Case(facts={"pipeline": _SHUFFLED, "label_order": _SORTED}),
        Case(facts={"pipeline": [], "label_order": {}}),
        Case(facts={"pipeline": [{"op": "generator"}, {"op": "batch"}], "label_order": {}}),
    ),
)
