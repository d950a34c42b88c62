"""When a checkpoint is due: a pure decision that is told the time."""

from steptime.plan.cadence import Every

# A checkpoint that may be passed over is taken when this many times its cost has gone by: 1 % of the time.
_THRIFT = 100.0


class Rhythm:
    """Says when the next checkpoint is due.

    Args:
        every: The rhythm asked for.
        now_s: The time, in s, on any clock that does not jump.
        steps: Steps trained so far.
    """

    def __init__(self, every: Every, now_s: float, steps: int) -> None:
        self._every = every
        self._last_s = now_s
        self._last_steps = steps

    def limit(self, steps: int) -> int | None:
        """Most steps that may be trained before the next look; None for no bound."""
        every = self._every.steps
        return None if every is None else max(every - (steps - self._last_steps), 1)

    def is_due(self, now_s: float, steps: int) -> bool:
        """Whether one is due between steps."""
        after_s, after_steps = self._every.seconds_s, self._every.steps
        by_time = after_s is not None and now_s - self._last_s >= after_s
        by_steps = after_steps is not None and steps - self._last_steps >= after_steps
        return by_time or by_steps

    def is_due_at_epoch(self, now_s: float, steps: int, epochs: int, cost_s: float) -> bool:
        """Whether one is due at the end of an epoch.

        Args:
            now_s: The time.
            steps: Steps trained so far.
            epochs: Epochs trained so far.
            cost_s: What the last one cost, in training and beside it, in s.
        """
        if self.is_due(now_s, steps):
            return True
        if self._every.epochs is None or epochs % self._every.epochs:
            return False
        return not self._every.thrifty or now_s - self._last_s >= _THRIFT * cost_s

    def taken(self, now_s: float, steps: int) -> None:
        """One was taken now."""
        self._last_s, self._last_steps = now_s, steps
