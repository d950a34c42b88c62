"""A softmax or sigmoid at the end, and a loss that expects logits."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steptime.diagnosis.model.rule import Case, Found, Lint, Unknown

_TWICE = (
    "The {activation} is applied twice: the loss takes probabilities for logits, so gradients are small and "
    "the network can't become sure of a class. Keras repairs this only while the loss sees the "
    "{activation}'s own tensor; here it does not, and gives no warning."
)
_RESCUED = (
    "On TensorFlow in {dtype} the result is right: Keras finds the logits behind the {activation}, uses them "
    "whatever from_logits says, and warns once. The same code applies the {activation} twice, without a "
    "warning, under mixed precision (the loss casts the output to float32 and the logits are lost) or with a "
    "layer behind it."
)


def _find(heads: Sequence[Mapping[str, Any]]) -> Iterator[Found | Unknown]:
    for head in heads:
        if not head["from_logits"]:
            continue
        activation = head["activation"]
        if activation is None:
            yield Unknown(reason=f"the last activation of output {head['name']} can't be told")
        elif activation in ("softmax", "sigmoid"):
            behind = f", then {', '.join(head['after'])}" if head["after"] else ""
            words = _RESCUED if head["rescued"] else _TWICE
            yield Found(
                evidence=(
                    f"output {head['name']} ({head['dtype']}) ends in {activation}{behind}; "
                    f"the loss is {head['loss']} with from_logits=True"
                ),
                severity="hint" if head["rescued"] else "error",
                consequence=words.format(activation=activation, dtype=head["dtype"]),
                fix=(
                    f"layers.Dense({head['units']}, dtype='float32')   # no activation: logits; "
                    f"keras.ops.{activation}(model.predict(x)) gives probabilities"
                ),
            )


def _head(**changes: Any) -> dict[str, Any]:
    head = {
        "name": "dense", "units": 10, "rank": 2, "dtype": "float32", "activation": "softmax", "rescued": True,
        "after": [], "loss": "sparse_categorical_crossentropy", "from_logits": True,
    }  # fmt: skip
    return head | changes


LINT = Lint(
    kind="softmax-from-logits",
    title="The model ends in a softmax or sigmoid, but the loss is told to expect logits.",
    severity="error",
    consequence=_TWICE.format(activation="softmax"),
    fix="layers.Dense(classes, dtype='float32')   # no activation: logits, as the loss expects",
    needs=("heads",),
    find=_find,
    fires=(
        Case(facts={"heads": [_head()]}, severity="hint"),
        Case(facts={"heads": [_head(dtype="float16", rescued=False)]}),
        Case(facts={"heads": [_head(after=["reshape"], rescued=False)]}),
        Case(facts={"heads": [_head(activation="sigmoid", loss="binary_crossentropy")]}, severity="hint"),
    ),
    silent=(
        Case(facts={"heads": [_head(from_logits=False)]}),
        Case(facts={"heads": [_head(activation="linear")]}),
        Case(facts={"heads": [_head(activation=None)]}),
        Case(facts={"heads": [_head(loss="mean_squared_error", from_logits=None)]}),
    ),
)
