"""What a callback in Keras' own `fit` sees of the steps. It imports no Keras, so that it serves Keras 2 as well."""

import time
from typing import Any

from steptime.engine.observer import Observer
from steptime.engine.report import Candidate, FitReport, Segments


class StepWatch:
    """The hooks of a Keras callback; mixed with the `Callback` of the Keras that trains.

    Notes which steps ran and how long they took.
    """

    def __init__(self, observer: Observer | None) -> None:
        super().__init__()
        self.segments = Segments()
        self._observer = observer
        self._epoch = 0
        self._first = 0
        self._start_ns = 0
        self._test_start_ns = 0
        self._compiled = True

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:  # noqa: ARG002 - Keras' own signature
        """Note the epoch."""
        self._epoch = epoch

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002 - Keras' own signature
        """Note when a step begins."""
        self._first = batch
        self._start_ns = time.perf_counter_ns()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Tell how long it took."""
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

    def on_test_begin(self, logs: Any = None) -> None:  # noqa: ARG002 - Keras' own signature
        """Note when a validation begins."""
        self._test_start_ns = time.perf_counter_ns()

    def on_test_end(self, logs: Any = None) -> None:  # noqa: ARG002 - Keras' own signature
        """Tell how long it took."""
        if self._observer is not None:
            duration_ns = time.perf_counter_ns() - self._test_start_ns
            self._observer.on_validation(epoch=self._epoch, duration_ns=duration_ns)

    def report(self, reason: str) -> FitReport:
        """What a `fit` by Keras' own loop says about itself.

        Args:
            reason: Which loop and why, in one line.
        """
        candidate = Candidate(loop="keras", step_s=None, compile_s=None, reason=None, verification=None)
        return FitReport(
            loop="keras",
            reason=reason,
            candidates=(candidate,),
            resident="",
            resident_bytes=0,
            segments=tuple(self.segments),
            notes=(),
            seed=None,
        )
