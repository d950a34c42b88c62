"""Validation data that the model was trained on."""

from collections.abc import Iterator, Mapping
from typing import Any

from steptime import units
from steptime.diagnosis.model.rule import Case, Found, Lint

# Samples of a few numbers repeat by chance (a survey, a grid); images and texts do not.
_FEW_NUMBERS = 16


def _find(validation: Mapping[str, Any]) -> Iterator[Found]:
    if validation["same"] == "object":
        yield Found(evidence="validation_data holds the very arrays (or data set) that are trained on")
        return
    share = validation["overlap_share"]
    if share is None:
        return
    read = f"{validation['compared']} of {validation['samples']} validation samples compared"
    if validation["same"] == "values":
        yield Found(evidence=f"all validation samples equal the training samples at the same place; {read}")
    elif share >= 0.1 and validation["numbers"] >= _FEW_NUMBERS:
        yield Found(
            evidence=f"{units.share(share)} of the validation samples are in the training data too; {read}",
            severity="error" if share >= 0.9 else "warning",
            confidence="medium",
        )


def _case(same: str | None, share: float | None, numbers: int = 784, severity: str = "") -> Case:
    facts = {"same": same, "overlap_share": share, "compared": 500, "samples": 10000, "numbers": numbers}
    return Case(facts={"validation": facts}, severity=severity)


LINT = Lint(
    kind="validation-is-training",
    title="The validation data are, wholly or in part, the training data.",
    severity="error",
    consequence=(
        "val_loss and val_accuracy measure what was memorised, not what was learned: overfitting stays "
        "invisible, and early stopping or the best checkpoint choose by the wrong number."
    ),
    fix="model.fit(x_train, y_train, validation_data=(x_val, y_val))   # samples that are not trained on",
    needs=("validation",),
    find=_find,
    fires=(
        _case("object", None),
        _case("values", 1.0),
        _case(None, 0.4, severity="warning"),
        _case(None, 0.95),
    ),
    silent=(_case(None, 0.0), _case(None, 0.05), _case(None, 0.6, numbers=4), _case(None, None)),
)
