"""Trainable weights that the loss does not depend on."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steptime import units
from steptime.diagnosis.model.rule import Case, Found, Lint


def _find(without_gradient: Sequence[Mapping[str, Any]], parameters: int) -> Iterator[Found]:
    if without_gradient:
        count = sum(item["parameters"] for item in without_gradient)
        names = [item["variable"] for item in without_gradient]
        yield Found(
            evidence=(
                f"{len(names)} trainable variables with {count:,} of {parameters:,} parameters "
                f"({units.share(count / max(parameters, 1))}) get no gradient: {', '.join(names[:4])}"
                + (" ..." if len(names) > 4 else "")
            )
        )


LINT = Lint(
    kind="without-gradient",
    title="Some trainable weights get no gradient: the loss does not depend on them.",
    severity="warning",
    consequence=(
        "They stay as they were initialised: a layer is made but not used, its output has no loss, or "
        "something between it and the loss has no gradient (argmax, a cast to integers, stop_gradient, "
        "numpy)."
    ),
    fix=(
        "layer.trainable = False   # if it is meant so; else use its output in call(), or give that output a "
        "loss"
    ),
    needs=("without_gradient", "parameters"),
    find=_find,
    fires=(
        Case(
            facts={"without_gradient": [{"variable": "extra/kernel", "parameters": 640}], "parameters": 1000}
        ),
    ),
    silent=(Case(facts={"without_gradient": [], "parameters": 1000}),),
)
