"""What callbacks remember: kept where it is known or the callback says so itself."""

from collections.abc import Callable, Iterable
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


def take(
    callbacks: Iterable[keras.callbacks.Callback], arrays: Arrays, warn: Callable[[str], None]
) -> list[list[Any]]:
    """The memory of all callbacks, as pairs of class name and JSON types.

    Args:
        callbacks: Of the fit.
        arrays: To which the arrays among it are added.
        warn: Is told of each callback whose `get_state` fails, or returns something that cannot be written down.
    """
    taken = []
    for callback in callbacks:
        name, length = type(callback).__name__, len(arrays)
        try:
            state = _state_of(callback)
            if state:
                taken.append([name, encode(state, arrays)])
        except Exception as error:  # noqa: BLE001  # a person's own get_state: the training is worth more
            del arrays[length:]
            warn(
                f"the state of callback {name} cannot be kept ({error or type(error).__name__}): "
                "it starts afresh after a resume"
            )
    return taken


def _state_of(callback: Any) -> Any:
    if _says_itself(callback):
        return callback.get_state()
    state = {name: getattr(callback, name, None) for name in _attributes(callback)}
    if "best" in state:
        state["best"] = _number(state["best"])
    return state


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
