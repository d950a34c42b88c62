"""Logits at the end, and a loss that expects probabilities."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steptime.diagnosis.model.rule import Case, Found, Lint, Unknown

_CROSSENTROPIES = ("sparse_categorical_crossentropy", "categorical_crossentropy", "binary_crossentropy")
_UNBOUNDED = ("linear", "relu", "tanh", "elu", "selu", "gelu", "leaky_relu", "silu")


def _find(heads: Sequence[Mapping[str, Any]]) -> Iterator[Found | Unknown]:
    for head in heads:
        if head["loss"] not in _CROSSENTROPIES or head["from_logits"]:
            continue
        activation = head["activation"]
        if activation is None:
            yield Unknown(reason=f"the last activation of output {head['name']} can't be told")
        elif activation in _UNBOUNDED:
            name = (
                "BinaryCrossentropy" if head["loss"].startswith("binary") else "SparseCategoricalCrossentropy"
            )
            name = "CategoricalCrossentropy" if head["loss"] == "categorical_crossentropy" else name
            yield Found(
                evidence=(
                    f"output {head['name']} ({head['units']} units) ends in {activation}; "
                    f"the loss is {head['loss']} with from_logits=False (the default)"
                ),
                fix=f"model.compile(..., loss=keras.losses.{name}(from_logits=True))",
            )


def _head(**changes: Any) -> dict[str, Any]:
    head = {
        "name": "dense", "units": 10, "activation": "linear", "loss": "sparse_categorical_crossentropy",
        "from_logits": False,
    }  # fmt: skip
    return head | changes


LINT = Lint(
    kind="logits-without-from-logits",
    title="The model ends in logits, but the loss expects probabilities.",
    severity="error",
    consequence=(
        "The outputs are clipped to between 1e-7 and 1 - 1e-7 (and for one-hot labels divided by their sum): "
        "whatever lies outside gets no gradient, so the model learns slowly, wrongly or not at all, without "
        "an error."
    ),
    fix="model.compile(..., loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))",
    needs=("heads",),
    find=_find,
    fires=(
        Case(facts={"heads": [_head()]}),
        Case(facts={"heads": [_head(loss="binary_crossentropy", units=1)]}),
        Case(facts={"heads": [_head(activation="relu", loss="categorical_crossentropy")]}),
    ),
    silent=(
        Case(facts={"heads": [_head(from_logits=True)]}),
        Case(facts={"heads": [_head(activation="softmax")]}),
        Case(facts={"heads": [_head(activation="sigmoid", loss="binary_crossentropy")]}),
        Case(facts={"heads": [_head(loss="mean_squared_error", from_logits=None)]}),
        Case(facts={"heads": [_head(activation=None)]}),
    ),
)
