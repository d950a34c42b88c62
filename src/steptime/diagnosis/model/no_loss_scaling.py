"""float16 without loss scaling."""

from collections.abc import Iterator, Mapping
from typing import Any

from steptime.diagnosis.model.rule import Case, Found, Lint


def _find(optimizer: Mapping[str, Any]) -> Iterator[Found]:
    layers = optimizer["float16_layers"]
    if layers and not optimizer["is_scaled"]:
        yield Found(
            evidence=(
                f"{len(layers)} trainable layers compute in float16 ({', '.join(layers[:3])}); "
                f"the optimizer is {optimizer['class']} without loss scaling"
            )
        )


def _case(layers: list[str], *, is_scaled: bool) -> Case:
    return Case(facts={"optimizer": {"class": "Adam", "float16_layers": layers, "is_scaled": is_scaled}})


LINT = Lint(
    kind="no-loss-scaling",
    title="Layers compute in float16, but the loss is not scaled.",
    severity="warning",
    consequence=(
        "Gradients below 6e-8 become 0 in float16, so the smallest weights' changes are lost. Keras scales "
        "by itself only when the model's own policy is mixed_float16 at the time of compile."
    ),
    fix=(
        "optimizer = keras.optimizers.LossScaleOptimizer(optimizer)   # or the policy mixed_bfloat16, which "
        "needs none"
    ),
    needs=("optimizer",),
    find=_find,
    fires=(_case(["conv2d", "dense"], is_scaled=False),),
    silent=(_case(["conv2d", "dense"], is_scaled=True), _case([], is_scaled=False)),
)
