"""Labels that name a class the model does not have."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steptime.diagnosis.model.rule import Case, Found, Lint


def _find(heads: Sequence[Mapping[str, Any]], labels: Sequence[Mapping[str, Any]]) -> Iterator[Found]:
    for head, label in zip(heads, labels, strict=False):
        low, high, units = label["low"], label["high"], head["units"]
        if low is None or high is None:
            continue
        of = f"{label['read']} of {label['samples']} labels read: {low:g} to {high:g}"
        if head["loss"] == "sparse_categorical_crossentropy" and units and (low < 0 or high >= units):
            shifted = low == 1 and high == units
            yield Found(
                evidence=f"{of}; {units} outputs take 0 to {units - 1}",
                fix="y = y - 1   # classes count from 0" if shifted else
                f"layers.Dense({int(high) + 1})   # or number the classes from 0: np.unique(y, return_inverse=True)[1]",
            )  # fmt: skip
        elif head["loss"] == "binary_crossentropy" and (low < 0 or high > 1):
            yield from _binary(label, of)


def _binary(label: Mapping[str, Any], of: str) -> Iterator[Found]:
    """A label of weight 0 costs nothing here, while a sparse cross-entropy fails on it all the same."""
    low, high = label["low_counted"], label["high_counted"]
    is_known = low is not None and high is not None
    if is_known and low >= 0 and high <= 1:
        return
    yield Found(
        evidence=f"{of}; binary cross-entropy takes 0 to 1"
        f"{'' if is_known else ' (unless sample_weight leaves the others out)'}",
        severity=None if is_known else "warning",
        consequence="The loss has no lower bound: it falls below 0 and training runs away.",
        fix="y = (y > 0).astype('float32')"
        if (label["low"], label["high"]) == (-1, 1)
        else "model.compile(..., loss='sparse_categorical_crossentropy')   # for more than two classes",
        confidence="high" if is_known else "medium",
    )


def _case(
    loss: str, units: int, low: float | None, high: float | None, severity: str = "", **counted: float | None
) -> Case:
    label = {
        "low": low,
        "high": high,
        "low_counted": low,
        "high_counted": high,
        "read": 60000,
        "samples": 60000,
    }
    return Case(
        facts={"heads": [{"loss": loss, "units": units}], "labels": [label | counted]}, severity=severity
    )


LINT = Lint(
    kind="labels-out-of-range",
    title="Some labels name a class that the model has no output for.",
    severity="error",
    consequence=(
        "On a CPU the step fails ('Received a label value of ...'); under XLA or on a GPU there is no error, "
        "and the loss and then all weights become NaN."
    ),
    fix="y = np.unique(y, return_inverse=True)[1]   # numbers the classes from 0",
    needs=("heads", "labels"),
    find=_find,
    fires=(
        _case("sparse_categorical_crossentropy", 10, 1, 10),
        _case("sparse_categorical_crossentropy", 10, -1, 9),
        _case("binary_crossentropy", 1, -1, 1),
        _case("binary_crossentropy", 1, 0, 2),
        _case("binary_crossentropy", 1, -1, 1, "warning", low_counted=None, high_counted=None),
        _case("sparse_categorical_crossentropy", 10, -1, 9, low_counted=0),
    ),
    silent=(
        _case("sparse_categorical_crossentropy", 10, 0, 9),
        _case("binary_crossentropy", 1, 0, 1),
        _case("binary_crossentropy", 1, -1, 1, low_counted=0),
        _case("mean_squared_error", 1, -50, 900),
        _case("sparse_categorical_crossentropy", 10, None, None),
    ),
)
