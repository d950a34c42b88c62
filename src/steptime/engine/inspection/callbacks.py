"""Facts of the callbacks."""

from typing import Any

import keras

from steptime.engine.cadence import Cadence
from steptime.engine.inspection.subject import Subject

_HOOKS = ("on_train_batch_begin", "on_train_batch_end", "on_batch_begin", "on_batch_end")


def read_callbacks(subject: Subject) -> list[dict[str, Any]]:
    """Each callback that a person passed, with what it does within epochs."""
    given = subject.request.callbacks
    if isinstance(given, keras.callbacks.CallbackList):
        given = given.callbacks
    listed = list(given) if isinstance(given, (list, tuple)) else [given] if given is not None else []
    return [_facts(callback) for callback in listed if not type(callback).__module__.startswith("steptime.")]


def _facts(callback: Any) -> dict[str, Any]:
    name = "TensorBoard" if isinstance(callback, keras.callbacks.TensorBoard) else type(callback).__name__
    frequency = getattr(callback, "save_freq", None)
    facts = {
        "class": name,
        "batch_hooks": _hooks(callback) if Cadence([callback]).every_batch else [],
        "save_freq": frequency if isinstance(frequency, int) else None,
    }
    if name == "TensorBoard":
        facts |= {
            "update_freq": callback.update_freq,
            "histogram_freq": int(callback.histogram_freq or 0),
            "write_images": bool(callback.write_images),
            "write_steps_per_second": bool(callback.write_steps_per_second),
        }
    return facts


def _hooks(callback: Any) -> list[str]:
    """The hooks of a step that are not Keras' empty ones."""
    empty = keras.callbacks.Callback
    found = []
    for hook in _HOOKS:
        method = getattr(callback, hook, None)
        if method is not None and getattr(method, "__func__", method) is not getattr(empty, hook):
            found.append(hook)
    return found
