"""An output in half precision."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steptime.diagnosis.model.rule import Case, Found, Lint

_DIGITS = {"float16": "about 3 decimal digits and nothing above 65504", "bfloat16": "about 2 decimal digits"}


def _find(heads: Sequence[Mapping[str, Any]]) -> Iterator[Found]:
    for head in heads:
        if head["dtype"] in _DIGITS:
            yield Found(evidence=f"output {head['name']} is {head['dtype']}: {_DIGITS[head['dtype']]}")


LINT = Lint(
    kind="half-precision-output",
    title="The model's output is in half precision.",
    severity="warning",
    consequence=(
        "The last activation and the predictions are rounded; a softmax or a custom loss can overflow to "
        "infinity, and Keras no longer finds the logits behind a softmax."
    ),
    fix="layers.Dense(classes, dtype='float32')   # the last layer only",
    needs=("heads",),
    find=_find,
    fires=(
        Case(facts={"heads": [{"name": "dense", "dtype": "float16"}]}),
        Case(facts={"heads": [{"name": "dense", "dtype": "bfloat16"}]}),
    ),
    silent=(Case(facts={"heads": [{"name": "dense", "dtype": "float32"}]}),),
)
