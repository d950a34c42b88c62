"""Large input values that nothing scales."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steptime.diagnosis.model.rule import Case, Found, Lint, Unknown

# Pixels are 0 to 255; well-scaled input is rarely above 10. Centred pixels (-124 to 151, as keras.applications'
# "caffe" preprocessing gives them) train well and are left alone.
_LARGE = 20.0
_VERY_LARGE = 1000.0


def _find(inputs: Sequence[Mapping[str, Any]]) -> Iterator[Found | Unknown]:
    for item in inputs:
        low, high = item["low_there"], item["high_there"]
        if low is None or high is None:
            if item["reaches"] != "Embedding":
                yield Unknown(
                    reason=f"the values of {item['name']} at the first layer with weights are not known"
                )
            continue
        if (low >= 0 and high > _LARGE) or max(abs(low), abs(high)) > _VERY_LARGE:
            is_pixels = (item["low"], item["high"]) == (0, 255)
            yield Found(
                evidence=(
                    f"{item['name']}: values from {low:g} to {high:g} reach {item['reaches']}"
                    f" (mean {item['mean']:.3g}; {item['read']} of {item['samples']} samples read)"
                ),
                confidence="high" if is_pixels else "medium",
                fix="layers.Rescaling(1 / 255)   # as the first layer: the data stay uint8" if is_pixels else
                "norm = layers.Normalization(); norm.adapt(x)   # as the first layer",
            )  # fmt: skip


def _case(**changes: Any) -> Case:
    item = {
        "name": "x", "low": 0, "high": 255, "low_there": 0, "high_there": 255, "mean": 33.3, "reaches": "Conv2D",
        "read": 1000, "samples": 60000,
    }  # fmt: skip
    return Case(facts={"inputs": [item | changes]})


LINT = Lint(
    kind="input-not-normalised",
    title="The input is not scaled: large values reach the first layer with weights.",
    severity="warning",
    consequence=(
        "Initial weights are drawn for inputs of about 1: large ones saturate activations and make the first "
        "steps too big, so training is slow, unstable, or needs a tiny learning rate."
    ),
    fix="layers.Rescaling(1 / 255)   # as the first layer",
    needs=("inputs",),
    find=_find,
    fires=(_case(), _case(low=-5, high=50_000, low_there=-5, high_there=50_000, reaches="Dense")),
    silent=(
        _case(low_there=0, high_there=1),
        _case(low=-123.7, high=151.1, low_there=-123.7, high_there=151.1),
        _case(low_there=None, high_there=None, reaches="Embedding"),
        _case(low_there=None, high_there=None, reaches=None),
    ),
)
