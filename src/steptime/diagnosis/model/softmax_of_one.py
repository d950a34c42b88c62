"""A softmax over a single output."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steptime.diagnosis.model.rule import Case, Found, Lint


def _find(heads: Sequence[Mapping[str, Any]]) -> Iterator[Found]:
    for head in heads:
        if head["activation"] == "softmax" and head["softmax_over"] == 1:
            yield Found(evidence=f"output {head['name']} ends in a softmax over 1 unit: it is always 1")


def _case(activation: str, softmax_over: int | None) -> Case:
    head = {"name": "dense", "activation": activation, "softmax_over": softmax_over}
    return Case(facts={"heads": [head]})


LINT = Lint(
    kind="softmax-of-one",
    title="The last layer is a softmax over one unit, whose output is always 1.",
    severity="error",
    consequence="The model predicts the same for everything and has no gradient: it can't learn.",
    fix="layers.Dense(1, activation='sigmoid')   # with loss='binary_crossentropy'",
    needs=("heads",),
    find=_find,
    fires=(_case("softmax", 1),),
    silent=(_case("sigmoid", None), _case("softmax", 2), _case("softmax", None)),
)
