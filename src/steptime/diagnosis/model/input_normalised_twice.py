"""Input that is scaled before the model and again inside it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steptime.diagnosis.model.rule import Case, Found, Lint


def _find(inputs: Sequence[Mapping[str, Any]]) -> Iterator[Found]:
    for item in inputs:
        low, high = item["low_there"], item["high_there"]
        if None in (low, high, item["low"], item["high"]) or not item["rescaled"]:
            continue
        if item["high"] - item["low"] <= 5 and high - low < 0.05 * (item["high"] - item["low"]):
            yield Found(
                evidence=(
                    f"{item['name']} lies from {item['low']:g} to {item['high']:g}; behind "
                    f"{', '.join(item['rescaled'])} only {low:.4g} to {high:.4g} reaches {item['reaches']}"
                )
            )


def _case(low: float, high: float, low_there: float, high_there: float, rescaled: list[str]) -> Case:
    item = {
        "name": "x", "low": low, "high": high, "low_there": low_there, "high_there": high_there, "reaches": "Conv2D",
        "rescaled": rescaled,
    }  # fmt: skip
    return Case(facts={"inputs": [item]})


LINT = Lint(
    kind="input-normalised-twice",
    title="The input is scaled twice: before the model and by a layer inside it.",
    severity="warning",
    consequence=(
        "All inputs look nearly alike to the first layer with weights, so training starts slowly, and "
        "pretrained weights see images that are all but black. EfficientNet, MobileNetV3 and ConvNeXt of "
        "keras.applications scale by themselves and expect 0 to 255."
    ),
    fix="x = x * 255   # or leave the division out; or remove the Rescaling layer",
    needs=("inputs",),
    find=_find,
    fires=(
        _case(0, 1, 0, 1 / 255, ["rescaling"]),
        _case(0, 1, -2.1, -2.08, ["rescaling", "normalization"]),
    ),
    silent=(
        _case(0, 255, 0, 1, ["rescaling"]),
        _case(0, 1, 0, 1, []),
        _case(0, 1, -1, 1, ["rescaling"]),
    ),
)
