"""Keras' own `fit`, called as it is, with the observer and the report attached."""

import dataclasses
import time
from typing import Any

import keras

from steptime.engine import infinite, private_keras
from steptime.engine.observer import Observer
from steptime.engine.report import Candidate, FitReport, Segments
from steptime.engine.request import FitRequest

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
        history.steptime = _report(text, watch)
    return history


def _with(callbacks: Any, watch: "_Watch") -> Any:
    if isinstance(callbacks, keras.callbacks.CallbackList):
        callbacks.append(watch)
        return callbacks
    given = [] if callbacks is None else callbacks if isinstance(callbacks, (list, tuple)) else [callbacks]
    return [*given, watch]


class _Watch(keras.callbacks.Callback):  # type: ignore[misc]  # untyped in Keras
    """Notes which steps ran and how long they took."""

    def __init__(self, observer: Observer | None, *, stop_on_infinite_loss: bool = False) -> None:
        super().__init__()
        self._stop_on_infinite_loss = stop_on_infinite_loss
        self.segments = Segments()
        self._observer = observer
        self._epoch = 0
        self._first = 0
        self._start_ns = 0
        self._test_start_ns = 0
        self._compiled = True

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:  # noqa: ARG002
        self._epoch = epoch

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002
        self._first = batch
        self._start_ns = time.perf_counter_ns()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        # Keras has turned the logs to numbers before calling back: the step has ended on the device.
        duration_ns = time.perf_counter_ns() - self._start_ns
        steps = batch + 1 - self._first
        self.segments.add(self._epoch, self._first, steps, "keras")
        if self._observer is not None:
            self._observer.on_block(
                epoch=self._epoch,
                first_step=self._first,
                n_steps=steps,
                duration_ns=duration_ns,
                loop="keras",
                compiled=self._compiled,
                logs=logs or {},
            )
        self._compiled = False
        if self._stop_on_infinite_loss:
            infinite.check(self.model, logs, self._epoch, (self._first, batch))

    def on_test_begin(self, logs: Any = None) -> None:  # noqa: ARG002
        self._test_start_ns = time.perf_counter_ns()

    def on_test_end(self, logs: Any = None) -> None:  # noqa: ARG002
        if self._observer is not None:
            duration_ns = time.perf_counter_ns() - self._test_start_ns
            self._observer.on_validation(epoch=self._epoch, duration_ns=duration_ns)


def _report(reason: str, watch: _Watch) -> FitReport:
    return FitReport(
        loop="keras",
        reason=reason,
        candidates=(Candidate(loop="keras", step_s=None, compile_s=None, reason=None, verification=None),),
        resident="",
        resident_bytes=0,
        segments=tuple(watch.segments),
        notes=(),
        seed=None,
    )
