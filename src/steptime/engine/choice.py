"""Which loop runs next: a pure decision, asked and told. It knows no TensorFlow and reads no clock.

A candidate is worth trying when the time it is expected to save over the steps still to come exceeds what
trying costs, which is mostly tracing and compiling. Every trial step trains the model, so a trial costs only
its compile time and the difference in step time. How many steps a trial takes depends on the plan alone, so
equal decisions give equal bits.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from steptime.engine.prior import Measured, Prior

# A trial must be expected to repay this many times what it costs.
_SAFETY = 1.5
# A whole call may cost at most this much more than Keras' own loop, also when a trial turns out useless.
_ALLOWED_LOSS_SHARE = 0.05
# Steps assumed to come when nothing tells how long an epoch is.
_UNKNOWN_STEPS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    """What to run next.

    Attributes:
        loop: Name of the candidate.
        steps: At most this many steps; None when settled, as many as wanted.
    """

    loop: str
    steps: int | None


@dataclass(slots=True)
class _Samples:
    compile_s: float = 0.0
    steps: int = 0
    trial_s: list[float] = field(default_factory=list)
    later_s: list[float] = field(default_factory=list)


class Choice:
    """Decides between candidates for one `fit`.

    Args:
        candidates: The first is Keras' own loop, or the fastest that is known to work.
        total_steps: Steps planned in this fit; None when unknown.
        remembered: What earlier fits of the same model and data measured.
        asked: Whether the person named the first candidate, so that the others run only if it fails.
        because: Why the first candidate is taken then.
    """

    def __init__(
        self,
        candidates: Sequence[Prior],
        *,
        total_steps: int | None,
        remembered: dict[str, Measured] | None = None,
        asked: bool = False,
        because: str = "as asked",
    ) -> None:
        self._priors = {p.loop: p for p in candidates}
        self._dropped = {p.loop: p.impossible for p in candidates if p.impossible is not None}
        self._skipped: dict[str, str] = {}
        self._total_steps = total_steps
        self._samples: dict[str, _Samples] = {}
        self._remembered = {k: v for k, v in (remembered or {}).items() if k in self._priors}
        self._first = candidates[0].loop
        self._current = self._first
        self._settled: str | None = None
        self.reason = ""
        self._asked = asked
        self._because = because

    def go_on(
        self,
        *,
        settled: str | None,
        reason: str,
        dropped: Mapping[str, str],
        measured: Mapping[str, Measured],
    ) -> None:
        """Takes over what an interrupted fit had found out, so that the same loop trains the steps to come.

        Args:
            settled: The loop it had chosen; None if it was still trying.
            reason: Why.
            dropped: Loops it could not use.
            measured: What it knew of each loop.
        """
        known = {loop for loop in self._priors if loop not in self._dropped}
        self._dropped |= {loop: why for loop, why in dropped.items() if loop in known}
        self._remembered |= {loop: times for loop, times in measured.items() if loop in known}
        if settled in known and settled not in self._dropped:
            self._settled, self.reason = settled, reason
        elif self._current in self._dropped:
            self._current = next(name for name in self._priors if name not in self._dropped)

    @property
    def settled(self) -> str | None:
        """The chosen loop; None while candidates are still tried."""
        return self._settled

    @property
    def current(self) -> str:
        """The loop that runs or is tried now."""
        return self._settled or self._current

    @property
    def dropped(self) -> dict[str, str]:
        """Candidates that cannot be used, with the reason."""
        return dict(self._dropped)

    @property
    def skipped(self) -> dict[str, str]:
        """Candidates that were not worth trying, with the reason."""
        return dict(self._skipped)

    def trial_steps(self, loop: str) -> int:
        """Steps to time in a trial: a function of the plan only."""
        total = self._total_steps if self._total_steps is not None else _UNKNOWN_STEPS
        if loop == self._first:
            return min(max(total // 200, 3), 16)
        return min(max(total // 50, 4), 64)

    def next(self, steps_left: int | None) -> Next:
        """What to run next.

        Args:
            steps_left: Steps still to come; None when unknown.
        """
        if self._asked and self._settled is None:
            self._settle_as_asked()
        if self._settled is not None:
            return Next(loop=self._settled, steps=None)
        if not self._is_known(self._current):
            trial = self.trial_steps(self._current)
            wanted = trial - self._steps(self._current)
            # Two pieces at least: one time says nothing about its own noise.
            return Next(loop=self._current, steps=min(wanted, -(-trial // 2)))
        left = _UNKNOWN_STEPS if steps_left is None else steps_left
        candidate = self._worth_trying(left)
        if candidate is None:
            self._settle()
            return self.next(steps_left)
        self._current = candidate
        return self.next(steps_left)

    def tell_compiled(self, loop: str, seconds: float) -> None:
        """A candidate ran its first step, which took this long with all tracing, compiling and comparing."""
        self._samples.setdefault(loop, _Samples()).compile_s += seconds

    def tell(self, loop: str, steps: int, seconds: float) -> None:
        """A candidate ran `steps` more steps in `seconds`."""
        samples = self._samples.setdefault(loop, _Samples())
        samples.steps += steps
        (samples.trial_s if self._settled is None else samples.later_s).append(seconds / steps)

    def drop(self, loop: str, reason: str) -> None:
        """A candidate turned out not to work; the best of the others goes on."""
        self._dropped[loop] = reason
        self._samples.pop(loop, None)
        self._remembered.pop(loop, None)
        if self._settled == loop:
            self._settled = None
        if self._current == loop:
            self._current = next(name for name in self._priors if name not in self._dropped)

    def measured(self) -> dict[str, Measured]:
        """What is known of every candidate that was run, now or by an earlier fit."""
        now = {
            loop: Measured(step_s=min(s.trial_s or s.later_s, default=None), compile_s=s.compile_s)
            for loop, s in self._samples.items()
        }
        return self._remembered | now

    def typical_step_s(self, loop: str) -> float | None:
        """Median time of a step, in s, over all that was run since the choice, or else in the trial."""
        samples = self._samples.get(loop, _Samples())
        known = self._remembered.get(loop)
        typical = samples.later_s or samples.trial_s
        return statistics.median(typical) if typical else known.step_s if known else None

    def _steps(self, loop: str) -> int:
        samples = self._samples.get(loop)
        return samples.steps if samples else 0

    def _is_known(self, loop: str) -> bool:
        if loop in self._dropped:
            return True
        remembered = self._remembered.get(loop)
        if remembered is not None and remembered.step_s is not None:
            return True
        return self._steps(loop) >= self.trial_steps(loop)

    def _worth_trying(self, left: int) -> str | None:
        best = self._best()
        gains = {}
        for loop, prior in self._priors.items():
            if loop in self._dropped or self._is_known(loop):
                continue
            if prior.over in gains:
                continue  # That one first: it is cheaper, and its time tells what to expect of this one.
            gain_s = (best[1] - self._expected_step_s(prior)) * left
            cost_s = self._expected_compile_s(prior)
            reason = self._why_not(prior, gain_s, cost_s, left)
            if reason is None:
                gains[loop] = gain_s - cost_s
                self._skipped.pop(loop, None)
            else:
                self._skipped[loop] = reason
        return max(gains, key=lambda loop: gains[loop], default=None)

    def _why_not(self, prior: Prior, gain_s: float, cost_s: float, left: int) -> str | None:
        if gain_s <= _SAFETY * cost_s:
            return (
                f"not tried: about {cost_s:.2g} s to compile against {max(gain_s, 0.0):.2g} s "
                f"expected to be saved in {left} steps"
            )
        if not prior.likely and cost_s > self._affordable_s(left):
            return (
                f"not tried: about {cost_s:.2g} s to compile could make this call slower than Keras' own loop"
            )
        return None

    def _affordable_s(self, left: int) -> float:
        """What a useless trial may cost: 5 % of Keras' time, and what was or will be saved against it."""
        first = self._first
        known = self.measured()
        if first not in known or known[first].step_s is None:
            return 0.0
        keras_s = known[first].step_s or 0.0
        total = self._total_steps if self._total_steps is not None else left
        allowed = _ALLOWED_LOSS_SHARE * (known[first].compile_s + total * keras_s)
        spent = sum(s.compile_s for loop, s in self._samples.items() if loop != first)
        return allowed + left * (keras_s - self._best()[1]) - spent

    def _expected_step_s(self, prior: Prior) -> float:
        known = self.measured().get(prior.loop)
        if known is not None and known.step_s is not None:
            return known.step_s
        if prior.over is None:
            return self._best()[1]
        base = self._expected_step_s(self._priors[prior.over])
        return max(base * prior.step_share - prior.saved_s, base * min(prior.step_share, 0.25))

    def _expected_compile_s(self, prior: Prior) -> float:
        first = self.measured().get(self._first)
        return prior.compile_s + prior.compile_share * (first.compile_s if first else 0.0)

    def _best(self) -> tuple[str, float]:
        """The fastest known candidate and its step time; later ones must beat earlier by their margin."""
        best: tuple[str, float] | None = None
        for loop, known in self._in_order():
            margin = self._priors[loop].margin_share
            if best is None or known < best[1] * (1.0 - margin):
                best = (loop, known)
        usable = [loop for loop in self._priors if loop not in self._dropped]
        return best or (usable[0], 0.0)

    def _in_order(self) -> list[tuple[str, float]]:
        known = self.measured()
        return [
            (loop, seconds)
            for loop in self._priors
            if loop not in self._dropped and loop in known and (seconds := known[loop].step_s) is not None
        ]

    def _settle_as_asked(self) -> None:
        why_not = self._dropped.get(self._first)
        self._settled = next(loop for loop in self._priors if loop not in self._dropped)
        self.reason = f"{self._first}, {self._because}"
        if why_not is not None:
            self.reason = f"{self._settled}: {self._first} cannot be run: {why_not}"

    def _settle(self) -> None:
        self._settled, best_s = self._best()
        known = self._in_order()
        others = [f"{loop} {seconds * 1e3:.3g} ms" for loop, seconds in known if loop != self._settled]
        against = f" against {', '.join(others)}" if others else ""
        # One line for a person; the record holds the reason of each candidate in full.
        untried = [f"{loop} {why}" for loop, why in self._dropped.items() if why]
        if self._skipped:
            untried.append(f"{', '.join(self._skipped)} not tried: too few steps to repay compiling")
        rest = f"; {'; '.join(untried)}" if untried else ""
        self.reason = f"{self._settled}: {best_s * 1e3:.3g} ms a step{against}{rest}"
