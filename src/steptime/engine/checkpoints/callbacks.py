"""What callbacks remember: kept where it is known or the callback says so itself."""

from collections.abc import Iterable
from typing import Any

import keras
import numpy as np

from steptime.engine.checkpoints.values import decode, encode

Arrays = list[np.ndarray[Any, Any]]

# What Keras' own callbacks know at a given moment. The direction of a metric is not here: they find it again.
_ATTRIBUTES: dict[type, tuple[str, ...]] = {
    keras.callbacks.EarlyStopping: ("wait", "stopped_epoch", "best", "best_weights", "best_epoch"),
    keras.callbacks.ReduceLROnPlateau: ("best", "cooldown_counter", "wait"),
    keras.callbacks.ModelCheckpoint: ("best", "_batches_seen_since_last_saving", "_last_batch_seen"),
    keras.callbacks.History: ("epoch", "history"),
    keras.callbacks.SwapEMAWeights: ("_ema_weights_in_model",),
}
# These remember nothing that the training depends on.
_FORGETFUL = (
    keras.callbacks.LearningRateScheduler,
    keras.callbacks.ProgbarLogger,
    keras.callbacks.TensorBoard,
    keras.callbacks.TerminateOnNaN,
)


def why_not_kept(callbacks: Iterable[keras.callbacks.Callback]) -> list[str]:
    """Of each callback whose memory cannot be kept, a sentence that says so."""
    return [
        f"callback {type(callback).__name__} has no get_state and set_state: it starts afresh after a resume"
        for callback in callbacks
        if not _says_itself(callback) and not _attributes(callback) and not isinstance(callback, _FORGETFUL)
    ]


def take(callbacks: Iterable[keras.callbacks.Callback], arrays: Arrays) -> list[list[Any]]:
    """The memory of all callbacks, as pairs of class name and JSON types.

    Raises:
        TypeError: A callback's `get_state` returns something that cannot be written down.
    """
    taken = []
    for callback in callbacks:
        if _says_itself(callback):
            state: Any = callback.get_state()
        else:
            state = {name: getattr(callback, name, None) for name in _attributes(callback)}
            if "best" in state:
                state["best"] = _number(state["best"])
        if state:
            try:
                taken.append([type(callback).__name__, encode(state, arrays)])
            except TypeError as error:
                raise TypeError(f"the state of callback {type(callback).__name__} holds {error}") from None
    return taken


def put_back(callbacks: Iterable[keras.callbacks.Callback], taken: Any, arrays: Arrays) -> list[str]:
    """Gives callbacks their memory back, each to the next one of its class.

    Returns:
        What did not fit, in words.
    """
    left = [(str(name), decode(state, arrays)) for name, state in taken]
    notes = []
    for callback in callbacks:
        name = type(callback).__name__
        index = next((i for i, (other, _) in enumerate(left) if other == name), None)
        if index is not None:
            _put_back(callback, left.pop(index)[1])
        elif _says_itself(callback) or _attributes(callback):
            notes.append(f"callback {name} is not in the checkpoint: it starts afresh")
    notes += [f"callback {name} of the checkpoint is gone" for name, _ in left]
    return notes


def _put_back(callback: Any, state: Any) -> None:
    if _says_itself(callback):
        callback.set_state(state)
        return
    for name, value in state.items():
        setattr(callback, name, value)


def _says_itself(callback: Any) -> bool:
    return callable(getattr(callback, "get_state", None)) and callable(getattr(callback, "set_state", None))


def _attributes(callback: keras.callbacks.Callback) -> tuple[str, ...]:
    return next((names for cls, names in _ATTRIBUTES.items() if isinstance(callback, cls)), ())


def _number(value: Any) -> Any:
    """Keras keeps a best value as it comes, which may be a tensor."""
    return value if value is None or isinstance(value, (int, float)) else np.asarray(value)[()]
