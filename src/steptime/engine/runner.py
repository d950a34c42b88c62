"""Executes claimed steps with the loop that the choice names, and tells the choice how long they took."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from steptime.engine import private_keras
from steptime.engine.choice import Choice
from steptime.engine.feeds.feed import Claim
from steptime.engine.loops.loop import Loop, Outcome
from steptime.engine.observer import Observer
from steptime.engine.report import Segments
from steptime.engine.verification import Verifier

# Control goes back to Python, and the progress bar moves, about this often.
_CHUNK_S = 0.25
# Steps in the first chunk of a loop whose step time is not known.
_FIRST_CHUNK = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Steps that were executed in one piece.

    Attributes:
        steps: How many.
        logs: Logs of the last one, as Python numbers.
    """

    steps: int
    logs: Any


class Runner:
    """Runs blocks of steps.

    Args:
        choice: Says which loop runs.
        loops: Makes each loop, by name; called when it is first needed.
        verifier: Compares a loop's first step with Keras' own; None when there is only Keras' own.
        whole_batch_steps: Steps of a pass that have a whole batch; None when every step has.
        observer: Is told of every block.
        compared: Loops that an interrupted fit had compared already, with what came of it: they simply go on.
    """

    def __init__(
        self,
        choice: Choice,
        loops: dict[str, Callable[[], Loop]],
        verifier: Verifier | None,
        *,
        whole_batch_steps: int | None,
        observer: Observer | None,
        compared: Mapping[str, str] | None = None,
    ) -> None:
        self._choice = choice
        self._make = loops
        self._verifier = verifier
        self._whole_batch_steps = whole_batch_steps
        self._observer = observer
        self._ready: dict[str, Loop] = {}
        self._step_s: dict[str, float] = {}
        self._last_steps: dict[str, int] = {}
        self._loop = ""
        self._announced = False
        self.segments = Segments()
        self._compared = compared or {}
        self.verifications: dict[str, str] = dict(self._compared)

    @property
    def known(self) -> tuple[str, ...]:
        """Loops that were compared with Keras' own, or are it."""
        return tuple(sorted({*self._ready, *self._compared}))

    @property
    def loop(self) -> str:
        """The loop of the last plan."""
        return self._loop

    def plan(self, limit: int | None, position: int, steps_left: int | None) -> int:
        """Chooses the next loop and says how many steps to claim for it.

        Args:
            limit: Most steps allowed; None for no bound.
            position: Position of the next step in the pass.
            steps_left: Steps still to come in the fit; None when unknown.
        """
        following = self._choice.next(steps_left)
        self._announce()
        self._loop = following.loop
        steps = self._chunk(following.loop)
        if following.steps is not None:
            steps = min(following.steps, max(1, int(_CHUNK_S / max(self._step_s.values(), default=1.0))))
        if following.loop == "xla" and self._whole_batch_steps is not None:
            whole = self._whole_batch_steps - position
            if whole <= 0:
                self._loop = "graph" if "graph" in self.known else "keras"
            steps = min(steps, max(whole, 1))
        if self._loop not in self._ready:
            steps = 1
        return steps if limit is None else max(1, min(steps, limit))

    def run(self, epoch: int, claim: Claim) -> Block:
        """Executes a claim made after `plan`.

        Raises:
            StopIteration: There are no more data.
        """
        name = self._loop
        start_ns = time.perf_counter_ns()
        first_time = name not in self._ready
        outcome, name = self._first(name, claim) if first_time else (self._ready[name].run(claim), name)
        # Turning logs to numbers waits for the device: the block ends here.
        logs = private_keras.python_logs(outcome.logs)
        duration_ns = time.perf_counter_ns() - start_ns
        if outcome.steps:
            self._account(name, epoch, claim, outcome, duration_ns, first_time, logs)
        return Block(steps=outcome.steps, logs=logs)

    def _first(self, name: str, claim: Claim) -> tuple[Outcome, str]:
        start_ns = time.perf_counter_ns()
        loop = self._make[name]()
        if name == "keras" or self._verifier is None or name in self._compared:
            outcome, accepted = loop.run(claim), True
        else:
            verdict = self._verifier.first_step(loop, claim)
            outcome, accepted = verdict.outcome, verdict.accepted
            self.verifications[name] = verdict.text
        if accepted:
            self._ready[name] = loop
            self._choice.tell_compiled(name, (time.perf_counter_ns() - start_ns) / 1e9)
            return outcome, name
        self._choice.drop(name, self.verifications[name])
        return outcome, "keras"

    def _account(
        self,
        name: str,
        epoch: int,
        claim: Claim,
        outcome: Outcome,
        duration_ns: int,
        first_time: bool,
        logs: Mapping[str, float],
    ) -> None:
        self.segments.add(epoch, claim.first, outcome.steps, name)
        if not first_time:
            step_s = duration_ns / 1e9 / outcome.steps
            self._step_s[name] = step_s
            self._last_steps[name] = outcome.steps
            self._choice.tell(name, outcome.steps, duration_ns / 1e9)
        if self._observer is not None:
            self._observer.on_block(
                epoch=epoch,
                first_step=claim.first,
                n_steps=outcome.steps,
                duration_ns=duration_ns,
                loop=name,
                compiled=first_time,
                logs=logs,
            )

    def _chunk(self, name: str) -> int:
        """Steps that take about `_CHUNK_S`, but at most four times the last chunk, whose time was measured."""
        if name not in self._step_s:
            return _FIRST_CHUNK
        return max(1, min(4 * self._last_steps[name], int(_CHUNK_S / max(self._step_s[name], 1e-9))))

    def _announce(self) -> None:
        if not self._announced and self._choice.settled is not None:
            self._announced = True
            if self._observer is not None:
                self._observer.on_decision(self._choice.reason)
