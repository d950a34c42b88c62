"""How often callbacks need control back: the bound on how many steps may run in one piece."""

from collections.abc import Sequence
from typing import Any

import keras

from steptime.engine import private_keras

_TRAIN_HOOKS = ("on_train_batch_begin", "on_train_batch_end", "on_batch_begin", "on_batch_end")
_TEST_HOOKS = ("on_test_batch_begin", "on_test_batch_end")
_PREDICT_HOOKS = ("on_predict_batch_begin", "on_predict_batch_end")


class Cadence:
    """What the callbacks of one `fit` need.

    Args:
        callbacks: All of them, Keras' own defaults included.
        stop_on_infinite_loss: Whether training ends at such a loss even where no callback asks for it.
    """

    def __init__(
        self, callbacks: Sequence[keras.callbacks.Callback], *, stop_on_infinite_loss: bool = False
    ) -> None:
        self._savers = [c for c in callbacks if private_keras.steps_until_save(c) is not None]
        demanding = [c for c in callbacks if _needs_every_batch(c)]
        self.every_batch = bool(demanding)
        self.stop_on_infinite_loss = stop_on_infinite_loss or any(
            isinstance(c, keras.callbacks.TerminateOnNaN) for c in callbacks
        )
        self._draws_bar = any(
            isinstance(c, keras.callbacks.ProgbarLogger) and c.verbose == 1 for c in callbacks
        )
        self.cost: str | None = None
        if demanding:
            name = type(demanding[0]).__name__
            self.cost = (
                f"callback {name} is called at every batch, so steps run one by one, which costs speed"
            )
        elif self._savers:
            name = type(self._savers[0]).__name__
            self.cost = f"callback {name} saves within epochs, so chunks end where it saves"

    def limit(self, step: int) -> int | None:
        """Most steps that may run in one piece from `step` of an epoch on; None when callbacks do not care."""
        if self.every_batch:
            return 1
        if step == 0 and self._draws_bar:
            # The bar of a new epoch appears with its first step.
            return 1
        if not self._savers:
            return None
        if step == 0:
            # These callbacks recognise a new epoch by a batch number that is not larger than the last.
            return 1
        return min(max(private_keras.steps_until_save(c) or 1, 1) for c in self._savers)


def watches_test_batches(callbacks: Sequence[keras.callbacks.Callback]) -> bool:
    """Whether a callback wants to be called around each batch of an evaluation.

    One that only wants to hear that it goes on says so by an attribute `takes_pieces`.
    """
    return any(
        _overridden(c, _TEST_HOOKS, _HARMLESS_IN_TEST) or _writes_every_batch(c)
        for c in callbacks
        if not getattr(c, "takes_pieces", False)
    )


def watches_predict_batches(callbacks: Sequence[keras.callbacks.Callback]) -> bool:
    """Whether a callback wants to be called around each batch of a prediction."""
    return any(_overridden(c, _PREDICT_HOOKS, (keras.callbacks.ProgbarLogger,)) for c in callbacks)


# Their own code copes with whole chunks; a person's subclass that replaces a hook counts as overriding.
_HARMLESS_IN_TEST = (keras.callbacks.ProgbarLogger, keras.callbacks.TensorBoard)
_HARMLESS_IN_TRAINING = (
    keras.callbacks.ProgbarLogger,
    keras.callbacks.TerminateOnNaN,
    keras.callbacks.ModelCheckpoint,
    keras.callbacks.BackupAndRestore,
    *([keras.callbacks.OrbaxCheckpoint] if hasattr(keras.callbacks, "OrbaxCheckpoint") else []),
)


def _needs_every_batch(callback: keras.callbacks.Callback) -> bool:
    return _writes_every_batch(callback) or _overridden(
        callback, _TRAIN_HOOKS, (*_HARMLESS_IN_TRAINING, keras.callbacks.TensorBoard)
    )


def _writes_every_batch(callback: keras.callbacks.Callback) -> bool:
    return isinstance(callback, keras.callbacks.TensorBoard) and private_keras.writes_every_batch(callback)


def _overridden(callback: Any, hooks: Sequence[str], harmless: Sequence[type]) -> bool:
    known = {getattr(cls, hook, None) for cls in (keras.callbacks.Callback, *harmless) for hook in hooks}
    for hook in hooks:
        method = getattr(callback, hook, None)
        if method is not None and getattr(method, "__func__", method) not in known:
            return True
    return False
