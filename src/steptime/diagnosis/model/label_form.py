"""Class numbers where one-hot labels are expected, or the other way round."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steptime.diagnosis.model.rule import Case, Found, Lint

_SPARSE, _ONE_HOT, _BINARY = (
    "sparse_categorical_crossentropy", "categorical_crossentropy", "binary_crossentropy",
)  # fmt: skip


def _find(heads: Sequence[Mapping[str, Any]], labels: Sequence[Mapping[str, Any]]) -> Iterator[Found]:
    for head, label in zip(heads, labels, strict=False):
        loss, units, shape = head["loss"], head["units"], tuple(label["shape"])
        if loss not in (_SPARSE, _ONE_HOT, _BINARY) or not units or units < 2:
            continue
        full = len(shape) == head["rank"] - 1 and shape[-1:] == (units,)
        seen = f"labels of shape {(None, *shape)} ({label['dtype']}) meet {loss} over {units} outputs"
        if loss == _SPARSE and full:
            yield Found(
                evidence=f"{seen}: one-hot labels",
                fix="model.compile(..., loss='categorical_crossentropy')   # or y = y.argmax(axis=-1)",
            )
        elif loss == _ONE_HOT and label["is_whole"] and not full:
            yield Found(
                evidence=f"{seen}: class numbers",
                fix="model.compile(..., loss='sparse_categorical_crossentropy')",
            )
        elif loss == _BINARY and head["activation"] == "softmax":
            yield Found(
                evidence=f"{seen} that end in a softmax",
                severity="warning",
                consequence=(
                    "Binary cross-entropy asks each output for a yes or no of its own; over a softmax it "
                    "trains worse, and its accuracy counts the many right zeros: with 10 classes 90 % mean "
                    "nothing."
                ),
                fix=f"model.compile(..., loss='{_ONE_HOT}', metrics=['accuracy'])",
            )


def _case(loss: str, shape: list[int], activation: str = "softmax", severity: str = "", **label: Any) -> Case:
    head = {"loss": loss, "units": 10, "rank": 2, "activation": activation}
    return Case(
        facts={"heads": [head], "labels": [{"shape": shape, "dtype": "int64", "is_whole": True} | label]},
        severity=severity,
    )


LINT = Lint(
    kind="label-form",
    title="The labels do not have the form that the loss expects (class numbers or one-hot).",
    severity="error",
    consequence=(
        "Keras refuses the first step with an error about shapes, or the loss compares the wrong things."
    ),
    fix="model.compile(..., loss='sparse_categorical_crossentropy')   # for class numbers",
    needs=("heads", "labels"),
    find=_find,
    fires=(
        _case(_SPARSE, [10]),
        _case(_ONE_HOT, []),
        _case(_ONE_HOT, [1]),
        _case(_BINARY, [10], severity="warning"),
    ),
    silent=(
        _case(_SPARSE, []),
        _case(_SPARSE, [1]),
        _case(_ONE_HOT, [10]),
        _case(_BINARY, [10], activation="sigmoid"),
        _case("mean_squared_error", [1]),
    ),
)
