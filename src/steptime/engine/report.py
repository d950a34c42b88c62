"""What a `fit` says about itself afterwards: `history.steptime`."""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One way of executing the steps, and what became of it.

    Attributes:
        loop: "keras", "graph", "graph+kernels" or "xla".
        step_s: Median time of a step in s; None when it was not run.
        compile_s: Time of its first step with all tracing, compiling and comparing, in s; None when not run.
        reason: Why it was not run or not used, naming the layer or operation; None when it was.
        verification: How its first step compared with Keras' own; None when it was not compared.
    """

    loop: str
    step_s: float | None
    compile_s: float | None
    reason: str | None
    verification: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Consecutive steps of one epoch that one loop executed.

    Attributes:
        epoch: From 0.
        first_step: First step within the epoch, from 0.
        n_steps: How many.
        loop: Name of the loop.
    """

    epoch: int
    first_step: int
    n_steps: int
    loop: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointCost:
    """What checkpoints cost.

    Attributes:
        written: How many were written.
        bytes: Size of the last one, in bytes.
        stall_s: How long training stood still for them, in s.
        write_s: How long they were written beside it, in s.
        share: `stall_s` as a share of the time since training began.
    """

    written: int
    bytes: int
    stall_s: float
    write_s: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FitReport:
    """How the training was executed.

    Attributes:
        loop: The loop that was chosen.
        reason: Which loop and why, in one line.
        candidates: Every loop that was considered.
        resident: What lay on the device for the whole fit, such as "training data"; empty when nothing did.
        resident_bytes: Its size in bytes.
        segments: Which loop executed which steps.
        notes: What cost speed, such as a callback that is called at every batch.
        seed: What shuffling was derived from; None when the data were not shuffled here.
        checkpoints: What checkpoints cost; None when none were asked for.
    """

    loop: str
    reason: str
    candidates: tuple[Candidate, ...]
    resident: str
    resident_bytes: int
    segments: tuple[Segment, ...]
    notes: tuple[str, ...]
    seed: int | None
    checkpoints: CheckpointCost | None = None

    def __str__(self) -> str:
        """One line: the reason, and what cost speed."""
        return "; ".join((self.reason, *self.notes))


def nothing_ran(notes: tuple[str, ...]) -> FitReport:
    """The report of a `fit` with no epoch to train."""
    return FitReport(
        loop="keras",
        reason="keras: there was no step to run",
        candidates=(),
        resident="",
        resident_bytes=0,
        segments=(),
        notes=notes,
        seed=None,
    )


class Segments:
    """Collects segments, joining neighbours."""

    def __init__(self) -> None:
        self._segments: list[Segment] = []

    def add(self, epoch: int, first_step: int, n_steps: int, loop: str) -> None:
        """Adds `n_steps` steps."""
        last = self._segments[-1] if self._segments else None
        if last and (last.epoch, last.loop, last.first_step + last.n_steps) == (epoch, loop, first_step):
            first_step, n_steps = last.first_step, last.n_steps + n_steps
            self._segments.pop()
        self._segments.append(Segment(epoch=epoch, first_step=first_step, n_steps=n_steps, loop=loop))

    def __iter__(self) -> Iterator[Segment]:
        """In the order of execution."""
        return iter(tuple(self._segments))
