"""What state.json holds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from steptime.engine.prior import Measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where a training is.

    Attributes:
        epoch: The epoch it is in, or that comes next, from 0.
        step: Steps of it that were trained.
        phase: "begin": the epoch has not begun; "steps": it is going on; "validation": its steps are done, and
            validation comes next.
        steps_done: Steps trained in all.
        stopped: Whether a callback ended the training here.
    """

    epoch: int
    step: int
    phase: str
    steps_done: int
    stopped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopState:
    """Which ways of executing steps were tried, and which was chosen: bits depend on it.

    Attributes:
        settled: The chosen loop; None while loops are tried.
        reason: Why it was chosen.
        step_s: Measured time of a step by loop, in s; None where only compiled.
        compile_s: Time of the first step by loop, in s.
        dropped: Loops that cannot be used, with the reason.
        ready: Loops that were compared with Keras' own step, or are it.
        verifications: How they compared.
    """

    settled: str | None = None
    reason: str = ""
    step_s: Mapping[str, float | None] = field(default_factory=dict)
    compile_s: Mapping[str, float] = field(default_factory=dict)
    dropped: Mapping[str, str] = field(default_factory=dict)
    ready: tuple[str, ...] = ()
    verifications: Mapping[str, str] = field(default_factory=dict)

    @property
    def measured(self) -> dict[str, Measured]:
        """What was known of each loop that ran."""
        return {
            loop: Measured(step_s=self.step_s.get(loop), compile_s=compile_s)
            for loop, compile_s in self.compile_s.items()
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingState:
    """Everything but the arrays.

    Attributes:
        created: When it was taken, UTC, ISO 8601.
        versions: Of what computes: steptime, Keras, TensorFlow, and the device.
        position: Where the training is.
        logs: Loss and metrics of the epoch so far, encoded by `values`.
        feed: Where the data are.
        loops: Which loops run.
        callbacks: What callbacks remember: class name and encoded state.
        identity: What was trained, by `identity`.
        learning_rate: When it was taken; None for a schedule.
        variables: Name, dtype and shape of each variable, in the order of the first arrays.
        score: Value of the metric by which the best checkpoint is kept, the greater the better.
    """

    created: str
    versions: Mapping[str, str]
    position: Position
    logs: Any
    feed: Mapping[str, Any]
    loops: LoopState
    callbacks: Any
    identity: Mapping[str, Any]
    learning_rate: float | None
    variables: tuple[tuple[str, str, tuple[int, ...]], ...]
    score: float | None = None
