"""NaN or infinity in the input."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steptime import units
from steptime.diagnosis.model.rule import Case, Found, Lint

_UNLESS = "One such value turns the loss, and with the next step all weights, into NaN, unless the model replaces it."


def _find(inputs: Sequence[Mapping[str, Any]]) -> Iterator[Found]:
    for item in inputs:
        share = item["finite_share"]
        if share is not None and share < 1:
            evidence = (
                f"{item['name']}: {units.share(1 - share)} of the values are NaN or infinite "
                f"({item['read']} of {item['samples']} samples read)"
            )
            if item["reaches"] is not None:
                yield Found(evidence=evidence)
            else:
                yield Found(
                    evidence=f"{evidence}; what the model does before its first weights is not known",
                    severity="warning",
                    consequence=_UNLESS,
                    confidence="medium",
                )


def _case(finite_share: float | None, reaches: str | None = "Dense", severity: str = "") -> Case:
    item = {"name": "x", "finite_share": finite_share, "read": 100, "samples": 100, "reaches": reaches}
    return Case(facts={"inputs": [item]}, severity=severity)


LINT = Lint(
    kind="input-not-finite",
    title="The input holds NaN or infinity.",
    severity="error",
    consequence="One such value turns the loss, and with the next step all weights, into NaN.",
    fix="x = np.nan_to_num(x)   # or remove these samples: x[np.isfinite(x).reshape(len(x), -1).all(axis=1)]",
    needs=("inputs",),
    find=_find,
    fires=(_case(0.999), _case(0.999, None, "warning")),
    silent=(_case(1.0), _case(1.0, None), _case(None)),
)
