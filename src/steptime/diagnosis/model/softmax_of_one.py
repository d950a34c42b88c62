"""A softmax over a single output."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steptime.diagnosis.model.rule import Case, Found, Lint


def _find(heads: Sequence[Mapping[str, Any]]) -> Iterator[Found]:
    for head in heads:
        if head["units"] == 1 and head["activation"] == "softmax":
            yield Found(evidence=f"output {head['name']} has 1 unit and ends in a softmax: it is always 1")


LINT = Lint(
    kind="softmax-of-one",
    title="The last layer is a softmax over one unit, whose output is always 1.",
    severity="error",
    consequence="The model predicts the same for everything and has no gradient: it can't learn.",
    fix="layers.Dense(1, activation='sigmoid')   # with loss='binary_crossentropy'",
    needs=("heads",),
    find=_find,
    fires=(Case(facts={"heads": [{"name": "dense", "units": 1, "activation": "softmax"}]}),),
    silent=(
        Case(facts={"heads": [{"name": "dense", "units": 1, "activation": "sigmoid"}]}),
        Case(facts={"heads": [{"name": "dense", "units": 2, "activation": "softmax"}]}),
    ),
)
