"""What happens at the ends of epochs and around validation, reported to the parent and to TensorBoard."""

import time
from collections.abc import Mapping
from typing import Any

import keras

from steptime.worker.sampling import DeviceWatch
from steptime.worker.signals import Stop
from steptime.worker.tensorboard import Board
from steptime.worker.watch import TrainingWatch

_VALIDATION_INTERVAL_S = 5.0


class EpochEnd(keras.callbacks.Callback):  # type: ignore[misc]
    """Reports the end of each epoch; overrides no hook of training batches, so that no loop has to slow down for it."""

    # Hooks of validation may be called once for many batches.
    takes_pieces = True

    def __init__(self, watch: TrainingWatch, board: Board | None, devices: DeviceWatch) -> None:
        super().__init__()
        self.watch = watch
        self.board = board
        self.devices = devices
        self._told_s = time.perf_counter()
        self.logs: dict[int, dict[str, float]] = {}

    def get_state(self) -> dict[str, Any]:
        """Return what a checkpoint keeps, so that the record of a resumed run is that of the whole training."""
        return {"logs": dict(self.logs), **self.watch.get_state()}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Take over what an earlier process recorded."""
        self.logs = dict(state["logs"])
        self.watch.set_state(state)

    def on_test_begin(self, logs: Mapping[str, Any] | None = None) -> None:  # noqa: ARG002 - Keras' signature
        """Say that validation begins; it may be left at once, since it changes no weights."""
        self.watch.events.write("phase", name="validate", words="validating")
        if self.watch.stop_together is None:
            self.watch.signals.stop = Stop.AT_ONCE_KEEPING

    def on_test_batch_end(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:  # noqa: ARG002
        """Tell now and then that validation goes on: who watches a group must not take it for stuck."""
        now_s = time.perf_counter()
        if now_s - self._told_s >= _VALIDATION_INTERVAL_S:
            self._told_s = now_s
            self.watch.events.write("validation", step=batch + 1)

    def on_test_end(self, logs: Mapping[str, Any] | None = None) -> None:  # noqa: ARG002 - Keras' signature
        """Say that training goes on."""
        self.watch.signals.stop = Stop.AFTER_THE_BLOCK
        self.watch.events.write("phase", name="train", words="training")

    def on_epoch_end(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        """Write the epoch to TensorBoard and tell the parent."""
        self.logs[epoch] = {key: float(value) for key, value in (logs or {}).items()}
        blocks = [block for block in self.watch.blocks if block.epoch == epoch]
        duration_s = sum(block.duration_ns for block in blocks) / 1e9
        steps = sum(block.n_steps for block in blocks)
        samples = sum(block.n_samples or 0 for block in blocks)
        speed = {
            "learning_rate": _learning_rate(self.model),
            "samples_per_s": samples / duration_s if samples and duration_s else None,
            "step_ms": duration_s / steps * 1e3 if steps else None,
        }
        if self.board is not None:
            self.board.epoch(epoch, self.logs[epoch], speed)
        self.devices.show()
        self.watch.epoch_ended(epoch, self.logs[epoch])


def _learning_rate(model: keras.Model) -> float | None:
    try:
        rate = model.optimizer.learning_rate
        # A variable that is mirrored on several devices is no number of Python's.
        return float(rate.numpy() if hasattr(rate, "numpy") else rate)
    except (AttributeError, TypeError, ValueError):
        return None
