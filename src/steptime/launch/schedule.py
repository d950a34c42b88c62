"""Which run of a comparison comes next: a pure function of what was run so far. Tested without processes.

Arms take turns as A B B A A B B A: each pair of rounds gives every arm the same mean place, so that a steady drift
of the machine (a processor that heats up, a cache that fills) hits all alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from steptime.errors import UsageError

# One run cannot show how much runs differ.
MIN_REPEATS = 2
# The number of looks for which benchmarks/verdicts.py shows how often the verdict is wrong.
MAX_REPEATS = 8
DEFAULT_BUDGET_S = 180.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long a comparison may go on.

    Attributes:
        repeats: Runs of each arm; None for as many as the answer needs.
        budget_s: Time after which no round is begun that would not end in it; None for no limit. Two rounds
            are always run.
    """

    repeats: int | None = None
    budget_s: float | None = DEFAULT_BUDGET_S

    def __post_init__(self) -> None:
        if self.repeats is not None and self.repeats < MIN_REPEATS:
            raise UsageError(
                f"--repeats must be a whole number of at least {MIN_REPEATS}. Received: {self.repeats}",
                hint="One run of each arm cannot show how much runs differ by themselves.",
            )
        if self.budget_s is not None and not self.budget_s > 0:
            raise UsageError(
                f"--time-budget must be a positive number of seconds. Received: {self.budget_s:g}",
                hint="For example: --time-budget 300",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A run that has ended.

    Attributes:
        arm: Number of its arm.
        duration_s: Wall time from its launch to its end.
        status: ``ok``, ``failed`` or ``interrupted``, as in its record.
    """

    arm: int
    duration_s: float
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Run this arm next.

    Attributes:
        arm: Number of the arm.
        repeat: How many runs of it ended well before.
    """

    arm: int
    repeat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Nothing more is to be run.

    Attributes:
        reason: Why, in words.
    """

    reason: str


def next_step(arms: int, done: Sequence[Done], limits: Limits, *, is_clear: bool) -> Start | Stop:
    """Return what to do next.

    Args:
        arms: Number of arms.
        done: What was run so far, in order.
        limits: When to end.
        is_clear: Whether the runs so far answer the question; asked for at the end of a round only.
    """
    if done and done[-1].status == "interrupted":
        return Stop(reason="it was interrupted")
    # A failure repeats itself: out of memory today is out of memory in a minute.
    lost = {run.arm for run in done if run.status == "failed"}
    left = [arm for arm in range(arms) if arm not in lost]
    if not left or (arms > 1 and len(left) == 1 and _repeats(left[0], done) >= MIN_REPEATS):
        return Stop(reason="fewer than two arms can be run")
    complete = min(_repeats(arm, done) for arm in left)
    waiting = [arm for arm in left if _repeats(arm, done) == complete]
    if len(waiting) == len(left):
        reason = _enough(left, done, complete, limits, is_clear=is_clear)
        if reason:
            return Stop(reason=reason)
    forward = complete % 2 == 0
    return Start(arm=waiting[0] if forward else waiting[-1], repeat=complete)


def is_round_over(arms: int, done: Sequence[Done]) -> bool:
    """Return whether all arms that can still be run have the same number of runs, at least two."""
    lost = {run.arm for run in done if run.status == "failed"}
    counts = {_repeats(arm, done) for arm in range(arms) if arm not in lost}
    return len(counts) == 1 and min(counts) >= MIN_REPEATS


def _enough(
    left: Sequence[int], done: Sequence[Done], complete: int, limits: Limits, *, is_clear: bool
) -> str | None:
    """Return why no further round is needed or possible, or None."""
    if complete >= (limits.repeats or MAX_REPEATS):
        return f"every arm was run {complete} times"
    if complete < MIN_REPEATS:
        return None
    if limits.repeats is None and is_clear:
        return f"the answer was clear after {complete} runs of each arm"
    if limits.budget_s is None:
        return None
    spent_s = sum(run.duration_s for run in done)
    round_s = sum(_mean_s(arm, done) for arm in left)
    if spent_s + round_s > limits.budget_s:
        return f"another round would not end within the time budget of {limits.budget_s:g} s"
    return None


def _repeats(arm: int, done: Sequence[Done]) -> int:
    return sum(run.arm == arm and run.status == "ok" for run in done)


def _mean_s(arm: int, done: Sequence[Done]) -> float:
    durations = [run.duration_s for run in done if run.arm == arm]
    return sum(durations) / len(durations)
