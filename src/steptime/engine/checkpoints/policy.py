"""What a person asks of checkpoints: the argument `checkpoint` of `steptime.fit`."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steptime.errors import UsageError
from steptime.plan.cadence import parse_every

# In these names greater is better; in all others less is.
_GREATER_IS_BETTER = ("acc", "auc", "precision", "recall", "f1", "fbeta", "iou", "dice", "cosine", "r2")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoints:
    """Where and how often a training is kept, and whether it goes on from what is there.

    Attributes:
        folder: Where the checkpoints lie; made if missing. One training, one folder.
        every: "5m", "200steps" or "1epoch"; "auto" is every 5 minutes and at each epoch's end, passing over
            ends of epochs so short that it would cost more than 1 % of the time.
        keep: How many of the newest are kept.
        best: Metric whose best checkpoint is kept as well, such as "val_loss"; None for none. The greatest
            value is best where the name says so ("accuracy", "auc", ...), else the least.
        resume: "auto" goes on if there is a checkpoint, True insists on one, False insists on none.
        allow_different: Whether to go on although model, data, batch size or optimizer have changed.
        required: Whether a fit that only Keras' own `fit` can do is refused; else it trains without checkpoints.
        stop: Asked after each piece of training; True writes a checkpoint and raises `StopRequested`.
        tell: Is told in words what happens; without it problems become Python warnings.
    """

    folder: str | Path
    every: str = "auto"
    keep: int = 3
    best: str | None = None
    resume: bool | str = "auto"
    allow_different: bool = False
    required: bool = True
    stop: Callable[[], bool] | None = None
    tell: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        if parse_every(self.every) is None:
            raise UsageError(
                "every must say how often. Received: 'none'", hint="Leave out checkpoint= for no checkpoints."
            )
        if not isinstance(self.keep, int) or self.keep < 1:
            raise UsageError(f"keep must be at least 1. Received: {self.keep!r}", hint="The default is 3.")
        if self.resume not in (True, False, "auto"):
            raise UsageError(
                f"resume must be True, False or 'auto'. Received: {self.resume!r}",
                hint="'auto' goes on if there is something to go on from.",
            )

    def score(self, logs: Mapping[str, Any]) -> float | None:
        """What `best` says of an epoch, greater is better; None when it says nothing."""
        if self.best is None or self.best not in logs:
            return None
        name, value = self.best.lower(), float(logs[self.best])
        if not math.isfinite(value):
            return None  # It is not the best, and JSON has no word for it.
        is_greater_better = not name.endswith("loss") and any(word in name for word in _GREATER_IS_BETTER)
        return value if is_greater_better else -value


def checkpoints_of(given: "str | Path | Checkpoints | None") -> Checkpoints | None:
    """The argument `checkpoint` as a `Checkpoints`.

    Raises:
        UsageError: None of the types above.
    """
    if given is None or isinstance(given, Checkpoints):
        return given
    if isinstance(given, (str, Path)):
        return Checkpoints(folder=given)
    raise UsageError(
        f"checkpoint must be a folder or steptime.Checkpoints. Received: {type(given).__name__}",
        hint="For example: checkpoint='checkpoints'",
    )
