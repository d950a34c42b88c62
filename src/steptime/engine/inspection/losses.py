"""Names of losses, whatever form they were given in."""

from typing import Any

import keras

_SHORT = {
    "mse": "mean_squared_error", "mae": "mean_absolute_error", "bce": "binary_crossentropy",
    "crossentropy": "categorical_crossentropy", "ce": "categorical_crossentropy",
}  # fmt: skip
_CROSSENTROPIES = {
    "CategoricalCrossentropy": "categorical_crossentropy",
    "SparseCategoricalCrossentropy": "sparse_categorical_crossentropy",
    "BinaryCrossentropy": "binary_crossentropy",
}


def losses_of(model: keras.Model) -> list[Any]:
    """The loss of each output, in their order; None for an output without a loss."""
    loss = getattr(model, "loss", None)
    if isinstance(loss, dict):
        names = getattr(model, "output_names", None) or list(loss)
        return [loss.get(name) for name in names]
    if isinstance(loss, (list, tuple)):
        return list(loss)
    outputs = getattr(model, "outputs", None) or (None,)
    # Keras gives a single loss to every output.
    return [loss] * len(outputs)


def loss_name(loss: Any) -> str | None:
    """Keras' function name of a loss; the class' or function's own name of others; None for none."""
    if loss is None:
        return None
    if isinstance(loss, str):
        name = loss
    elif isinstance(loss, keras.losses.Loss):
        name = (
            _CROSSENTROPIES.get(type(loss).__name__, type(loss).__name__)
            if _is_keras(loss)
            else type(loss).__name__
        )
    else:
        name = getattr(loss, "__name__", type(loss).__name__)
    name = _CROSSENTROPIES.get(name, name)  # Keras takes class names as text too
    return _SHORT.get(name.lower(), name)


def takes_logits(loss: Any) -> bool | None:
    """Whether a cross-entropy was told to expect logits; None for other losses."""
    if loss_name(loss) not in _CROSSENTROPIES.values():
        return None
    return bool(_setting(loss, "from_logits"))


def ignored_class(loss: Any) -> int | None:
    """The label that a sparse cross-entropy leaves out."""
    value = _setting(loss, "ignore_class")
    return value if isinstance(value, int) else None


def dtype_of_loss(loss: Any) -> str:
    """The dtype that outputs are cast to before the loss."""
    return str(getattr(loss, "dtype", None) or keras.config.floatx())


def _setting(loss: Any, name: str) -> Any:
    return loss.get_config().get(name) if isinstance(loss, keras.losses.Loss) and _is_keras(loss) else None


def _is_keras(loss: Any) -> bool:
    return type(loss).__module__.startswith("keras.")
