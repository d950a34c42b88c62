"""What the engine tells whoever measures it."""

from collections.abc import Mapping
from typing import Protocol


class Observer(Protocol):
    """Is told of everything that took time in a `fit`, right after it happened.

    Every duration comes from `time.perf_counter_ns` around work that had ended on the device.
    """

    def on_block(
        self,
        *,
        epoch: int,
        first_step: int,
        n_steps: int,
        duration_ns: int,
        loop: str,
        compiled: bool,
        logs: Mapping[str, float],
    ) -> None:
        """A piece of training ended. An exception raised here ends ``fit`` and reaches its caller.

        Args:
            epoch: From 0.
            first_step: Number of the first step within the epoch, from 0.
            n_steps: Steps trained.
            duration_ns: From before the first step to the end of the last on the device, in ns.
            loop: "keras", "graph", "graph+kernels" or "xla".
            compiled: Whether this time includes tracing, compiling or comparing loops.
            logs: Loss and metrics so far in this epoch, as callbacks see them.
        """

    def on_validation(self, *, epoch: int, duration_ns: int) -> None:
        """The validation after `epoch` took `duration_ns` in ns, tracing included."""

    def on_decision(self, text: str) -> None:
        """A loop was chosen; `text` is one line that says which and why."""
