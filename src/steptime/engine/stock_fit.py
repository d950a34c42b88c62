"""Keras' own `fit`, called as it is, with the observer and the report attached."""

import dataclasses
from typing import Any

import keras

from steptime.engine import infinite, private_keras
from steptime.engine.observer import Observer
from steptime.engine.request import FitRequest
from steptime.engine.step_watch import StepWatch

_OURS = ("loop", "exact_kernels", "seed", "observer", "stop_on_infinite_loss", "checkpoint")


def run(
    model: keras.Model, request: FitRequest, reason: str, *, check_override: bool
) -> keras.callbacks.History:
    """Trains with Keras' own `fit`, or the person's override of it.

    Args:
        model: The model.
        request: The arguments of the fit.
        reason: Why the engine does not execute it.
        check_override: Whether a class that overrides `fit` gets its own called.
    """
    arguments = {f.name: getattr(request, f.name) for f in dataclasses.fields(request)}
    for name in _OURS:
        del arguments[name]
    watch = _Watch(request.observer, stop_on_infinite_loss=request.stop_on_infinite_loss)
    arguments["callbacks"] = _with(request.callbacks, watch)
    text = f"keras: {reason}"
    if request.observer is not None:
        request.observer.on_decision(text)
    call = private_keras.own_or_stock(model, "fit", check_override=check_override)
    try:
        history: keras.callbacks.History = call(**arguments)
    finally:
        if isinstance(request.callbacks, keras.callbacks.CallbackList):
            request.callbacks.callbacks.remove(watch)
    if history is not None:
        history.steptime = watch.report(text)
    return history


def _with(callbacks: Any, watch: "_Watch") -> Any:
    if isinstance(callbacks, keras.callbacks.CallbackList):
        callbacks.append(watch)
        return callbacks
    given = [] if callbacks is None else callbacks if isinstance(callbacks, (list, tuple)) else [callbacks]
    return [*given, watch]


class _Watch(StepWatch, keras.callbacks.Callback):  # type: ignore[misc]  # untyped in Keras
    """Notes which steps ran and how long they took."""

    def __init__(self, observer: Observer | None, *, stop_on_infinite_loss: bool = False) -> None:
        super().__init__(observer)
        self._stop_on_infinite_loss = stop_on_infinite_loss

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        super().on_train_batch_end(batch, logs)
        if self._stop_on_infinite_loss:
            infinite.check(self.model, logs, self._epoch, (self._first, batch))
