"""The observer of a script's ``fit`` calls."""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steptime.worker.watch import TrainingWatch


class CarefulWatch:
    """An observer whose own trouble, such as a full disk, never reaches the training that it watches."""

    def __init__(self, watch: "TrainingWatch") -> None:
        self._watch = watch
        self.problem: str | None = None

    def on_block(self, **fields: Any) -> None:
        """Pass a block on."""
        self._pass(self._watch.on_block, fields)
        self._watch.epoch_end_ns[fields["epoch"]] = time.perf_counter_ns() - self._watch.origin_ns

    def on_validation(self, *, epoch: int, duration_ns: int) -> None:
        """Pass a validation on."""
        self._pass(self._watch.on_validation, {"epoch": epoch, "duration_ns": duration_ns})
        self._watch.epoch_end_ns[epoch] = time.perf_counter_ns() - self._watch.origin_ns

    def on_decision(self, text: str) -> None:
        """Pass the choice of the loop on."""
        self._pass(self._watch.on_decision, {"text": text})

    def _pass(self, listener: Any, fields: Mapping[str, Any]) -> None:
        if self.problem is not None:
            return
        try:
            listener(**fields)
        except Exception as error:  # noqa: BLE001 - measuring must not end a script's training
            self.problem = f"the measurement stopped early: {error!r}"
