"""Times a job's steps and other ways of executing them in turns, while its own `fit` goes on.

The fit is paused where it reports a block of steps. Everything thus runs in one process, on the same model and
within seconds of each other, so that a machine that is busy for a while slows all of them alike.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import keras

from steptime.engine.timing.arms import Arm, timed
from steptime.engine.timing.assemble import Arms
from steptime.engine.timing.traces import TraceCounter

# Steps after a pause that are not counted: batches were prefetched while it lasted.
_SETTLING_STEPS = (4, 20)
_LEAST_STEPS = 3
_FEW_ROUNDS = 5
_FEWEST_ROUNDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How long the timings take.

    Attributes:
        slice_s: Seconds of one way of executing steps in one round, at least.
        rounds: Rounds, in each of which everything is timed once.
        enough_s: After this time five rounds must do, and after thrice this time three, as where steps are slow.
    """

    slice_s: float = 0.2
    rounds: int = 9
    enough_s: float = 20.0


@dataclass(slots=True)
class Slices:
    """What was timed of one way of executing steps: mean seconds a step of each round."""

    step_s: list[float] = field(default_factory=list)
    steps: int = 0

    def add(self, seconds: float, steps: int) -> None:
        """Adds one round."""
        self.step_s.append(seconds / steps)
        self.steps += steps


@dataclass(slots=True)
class _Slice:
    """The running round of the job itself."""

    settling: int = 0
    wall_ns: int = 0
    steps: int = 0
    quiet: list[float] = field(default_factory=list)
    traced_ns: int = 0
    traced_steps: int = 0


class Session:
    """The observer of a fit that is timed (see `steptime.engine.observer`).

    Args:
        model: The model in training.
        make: Makes the other ways of executing steps, once the fit has chosen its loop; called with its name.
        traces: Counts traces of the step.
        pace: How long it may take.
        is_stopped: Whether somebody asked to stop.
    """

    def __init__(
        self,
        model: keras.Model,
        make: Callable[[str], Arms],
        traces: TraceCounter,
        pace: Pace,
        is_stopped: Callable[[], bool],
    ) -> None:
        self._model = model
        self._make = make
        self._traces = traces
        self._pace = pace
        self._is_stopped = is_stopped
        self._slice = _Slice()
        self._decided = False
        self._epoch = -1
        self._left_ns = 0
        self._began_ns = time.perf_counter_ns()
        self._traces_before = 0
        self.arms: Arms | None = None
        self.as_is = Slices()
        self.others: dict[str, Slices] = {}
        self.steps = 0
        self.loop = ""
        self.traced_s = 0.0
        self.traced_again = 0
        self.traced_shapes: list[str] = []
        self.finished = False

    def on_block(self, **block: Any) -> None:
        """A piece of training ended; another way of executing steps may be due."""
        entered_ns = time.perf_counter_ns()
        traces = self._traces.count - self._traces_before
        if self._decided and not block["compiled"] and not self.finished:
            self.loop = block["loop"]
            # Between epochs lies work that is no step's; callbacks between blocks of one epoch belong to steps.
            is_first = block["epoch"] != self._epoch
            wall_ns = block["duration_ns"] if is_first else entered_ns - self._left_ns
            self._count(wall_ns, block["n_steps"], traces)
        self.steps += block["n_steps"]
        self._epoch = block["epoch"]
        if self._is_stopped():
            self.finished = True
        if self.finished:
            self._model.stop_training = True
        self._traces_before = self._traces.count
        self._left_ns = time.perf_counter_ns()

    def on_validation(self, *, epoch: int, duration_ns: int) -> None:
        """Validations are timed elsewhere."""

    def on_decision(self, text: str) -> None:  # noqa: ARG002 - the observer's signature
        """The loop was chosen: what follows is the job as it will go on."""
        self._decided = True

    def _count(self, wall_ns: int, steps: int, traces: int) -> None:
        now = self._slice
        if not self._is_settled(wall_ns / 1e9 / steps):
            now.settling += steps
            return
        now.wall_ns += wall_ns
        now.steps += steps
        if traces:
            now.traced_ns += wall_ns
            now.traced_steps += steps
            self.traced_again += traces
            self.traced_shapes += self._traces.shapes[-traces:]
        else:
            now.quiet.append(wall_ns / 1e9 / steps)
        if now.steps >= _LEAST_STEPS and now.wall_ns >= self._pace.slice_s * 1e9:
            self._end_slice()

    def _is_settled(self, step_s: float) -> bool:
        """Whether what was prefetched in a pause has been used up."""
        least, enough = _SETTLING_STEPS
        now = self._slice
        if now.steps or now.settling >= enough:
            return True
        if step_s > self._pace.slice_s:
            return now.settling >= 1
        return now.settling >= least and now.settling * step_s >= self._pace.slice_s / 4

    def _end_slice(self) -> None:
        now = self._slice
        self.as_is.add(now.wall_ns / 1e9, now.steps)
        if now.traced_steps and now.quiet:
            quiet_s = sorted(now.quiet)[len(now.quiet) // 2]
            self.traced_s += max(now.traced_ns / 1e9 - now.traced_steps * quiet_s, 0.0)
        if self.arms is None:
            self.arms = self._make(self.loop)
            self.others = {name: Slices() for name in self.arms.timed}
            self._began_ns = time.perf_counter_ns()
        turn = list(self.arms.timed.items())
        # Forth and back, so that what drifts slows the first ones as much as the last ones.
        for name, arm in turn if len(self.as_is.step_s) % 2 else reversed(turn):
            if self._is_stopped():
                return
            self._time(arm, self.others[name])
        self.finished = len(self.as_is.step_s) >= self._rounds()
        self._slice = _Slice()

    def _rounds(self) -> int:
        """Rounds that must do, by the time they have taken."""
        took_s = (time.perf_counter_ns() - self._began_ns) / 1e9
        if took_s > 3 * self._pace.enough_s:
            return min(_FEWEST_ROUNDS, self._pace.rounds)
        return min(_FEW_ROUNDS, self._pace.rounds) if took_s > self._pace.enough_s else self._pace.rounds

    def _time(self, arm: Arm, slices: Slices) -> None:
        """Time one round of an arm, after a first piece that is thrown away but for its speed."""
        seconds, done = timed(arm, 1)
        if not done:
            return
        step_s = seconds / done
        total_s, total = 0.0, 0
        while total_s < self._pace.slice_s:
            # The first piece may be slow; pieces grow as the truth shows.
            wanted = max(1, int((self._pace.slice_s - total_s) / max(step_s, 1e-7)))
            seconds, done = timed(arm, min(wanted, max(4 * total, 8)))
            if not done:
                break
            total_s, total = total_s + seconds, total + done
            step_s = seconds / done
        if total:
            slices.add(total_s, total)
