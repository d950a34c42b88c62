"""Decides when a worker of a group is lost. Pure: it is told what was heard and when, and reads no clock.

All workers wait for each other at every step. One that is gone stops them all, and only from outside can be seen
which one it was.
"""

import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

JOIN_PHASE = "join"
_STARTING = ("start", "import")
_PREPARING = ("data", "build", "compile", "inspect")
_TRAINING = ("train", "validate")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long what may take.

    Attributes:
        silent_s: Between two signs of life; workers beat once a second.
        start_s: The same until TensorFlow is imported, and from the start until all have joined. Loading a gigabyte
            of libraries, perhaps over a network, keeps Python from doing anything else.
        stuck_s: In a phase before training without news, while others wait in training already; and in training
            without a block of steps anywhere, though all workers are alive. Before the first block that is no sign:
            how long compiling takes nobody knows.
    """

    silent_s: float
    start_s: float = 300.0
    stuck_s: float = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """A worker that is gone.

    Attributes:
        rank: Its number; None when all live and none goes on.
        reason: What happened, in one line.
        wrong_use: Whether the worker ended by itself because of what it was given: starting again is no use.
    """

    rank: int | None
    reason: str
    wrong_use: bool = False


@dataclass(slots=True)
class _Worker:
    heard_s: float
    news_s: float
    phase: str = "start"
    place: str = ""
    code: int | None = None


@dataclass(slots=True)
class VitalSigns:
    """What is known of the workers of one group.

    Args:
        ranks: Their numbers.
        limits: How long what may take.
        now_s: When they were started.
    """

    ranks: Sequence[int]
    limits: Limits
    now_s: float
    _workers: dict[int, _Worker] = field(init=False)
    _progress_s: float = field(init=False)
    _has_trained: bool = False

    def __post_init__(self) -> None:
        self._workers = {rank: _Worker(self.now_s, self.now_s) for rank in self.ranks}
        self._progress_s = self.now_s

    def heard(self, rank: int, event: Mapping[str, Any], now_s: float) -> None:
        """A worker wrote an event."""
        worker = self._workers[rank]
        worker.heard_s = now_s
        if event["kind"] == "phase":
            worker.phase = str(event.get("name"))
        if event["kind"] == "progress":
            self._has_trained = True
            worker.place = f", epoch {event['epoch'] + 1} step {event['step']}"
        if event["kind"] != "beat":
            self._progress_s = worker.news_s = now_s

    def ended(self, rank: int, code: int) -> None:
        """A worker's process ended; negative codes are signals, as in `subprocess`."""
        self._workers[rank].code = code

    @property
    def all_ended(self) -> bool:
        """Whether no process is left."""
        return all(worker.code is not None for worker in self._workers.values())

    def loss(self, now_s: float) -> Loss | None:
        """The first reason to give the group up; None while all is well."""
        for rank, worker in self._workers.items():
            if worker.code is not None and worker.code < 0:
                return Loss(
                    rank=rank, reason=f"worker {rank} was ended by {_signal(worker.code)}{_at(worker)}"
                )
        for rank, worker in self._workers.items():
            if worker.code:
                reason = f"worker {rank} ended with exit code {worker.code}{_at(worker)}"
                return Loss(rank=rank, reason=reason, wrong_use=worker.code == 2)
        for rank, worker in self._workers.items():
            loss = self._silence(rank, worker, now_s)
            if loss is not None:
                return loss
        return self._standstill(now_s)

    def _silence(self, rank: int, worker: _Worker, now_s: float) -> Loss | None:
        silent_s = now_s - worker.heard_s
        limit_s = self.limits.start_s if worker.phase in _STARTING else self.limits.silent_s
        if worker.code is not None or silent_s <= limit_s:
            return None
        return Loss(rank=rank, reason=f"worker {rank} gave no sign of life for {silent_s:.0f} s{_at(worker)}")

    def _standstill(self, now_s: float) -> Loss | None:
        living = {rank: worker for rank, worker in self._workers.items() if worker.code is None}
        joining = [rank for rank, worker in living.items() if worker.phase == JOIN_PHASE]
        missing = [rank for rank, worker in living.items() if worker.phase in _STARTING]
        still_s = now_s - self._progress_s
        if joining and still_s > self.limits.start_s:
            which = f"; missing: {', '.join(map(str, missing))}" if missing else ""
            return Loss(rank=None, reason=f"the workers did not all join within {still_s:.0f} s{which}")
        waiting_s = min((w.news_s for w in living.values() if w.phase in _TRAINING), default=now_s)
        for rank, worker in living.items():
            behind_s = now_s - max(worker.news_s, waiting_s)
            if worker.phase in _PREPARING and behind_s > self.limits.stuck_s:
                reason = (
                    f"worker {rank} tells nothing{_at(worker)}, and others have waited for {behind_s:.0f} s"
                )
                return Loss(rank=rank, reason=reason)
        are_training = living and self._has_trained and all(w.phase in _TRAINING for w in living.values())
        if are_training and still_s > self.limits.stuck_s:
            reason = f"all workers are alive, but none has finished a block of steps for {still_s:.0f} s"
            return Loss(rank=None, reason=f"{reason}: they do not reach each other")
        return None


def _signal(code: int) -> str:
    return signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"


def _at(worker: _Worker) -> str:
    return f" in phase {worker.phase!r}{worker.place}"
