"""Names a compiled loss for a record."""

from typing import Any


def loss_text(model: Any) -> str:
    """Return the compiled loss in words for the record."""
    loss = getattr(model, "loss", None)
    if isinstance(loss, (dict, list, tuple)):
        items = loss.values() if isinstance(loss, dict) else loss
        return ", ".join(_one_loss_text(item) for item in items)
    return _one_loss_text(loss)


def _one_loss_text(loss: Any) -> str:
    if loss is None:
        return "none"
    if isinstance(loss, str):
        return loss
    return str(getattr(loss, "__name__", None) or type(loss).__name__)
