"""What the training loop asks of a way of executing steps."""

from dataclasses import dataclass
from typing import Any, Protocol

from steptime.engine.feeds.feed import Claim


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a loop did with the steps it was given.

    Attributes:
        steps: How many it executed: fewer than asked when the data ended or the loss became infinite.
        logs: Logs of the last step, as tensors; None when no step was executed.
    """

    steps: int
    logs: Any


class Loop(Protocol):
    """A way of executing steps."""

    @property
    def name(self) -> str:
        """One of "keras", "graph", "graph+kernels" and "xla"."""

    def run(self, claim: Claim) -> Outcome:
        """Executes the claimed steps."""
