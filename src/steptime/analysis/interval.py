"""Intervals for few repeats: Student's t on logarithms of each repeat's median.

The repeats, not the blocks, are the independent measurements: two processes differ in memory layout, placement
and in what else the machine does, so blocks of one process are alike (Kalibera and Jones, "Rigorous benchmarking
in reasonable time", ISMM 2013; Georges, Buytaert and Eeckhout, "Statistically rigorous Java performance
evaluation", OOPSLA 2007). With 2 to 8 repeats a bootstrap over repeats is far too narrow (with 2 repeats it can
never reach beyond the two values; Hesterberg, "What teachers should know about the bootstrap", The American
Statistician 69, 2015), while t knows how little 2 repeats say. Logarithms make a ratio a difference, and make
"twice as fast" and "half as fast" mirror images.

Two arms are compared by Welch's t (Welch, Biometrika 34, 1947; Satterthwaite, Biometrics Bulletin 2, 1946),
since a GPU's noise is not a CPU's. Repeats are taken in turns but compared unpaired: a drift of the machine is then
part of the spread and widens the interval, whereas pairing would halve the degrees of freedom, which costs more
at 2 to 4 repeats than it wins.

From 5 repeats on, a second interval is made without the fastest and the slowest repeat of each arm (trimmed means:
Yuen, Biometrika 61, 1974), and the narrower of the two is taken: one run that something else slowed down then
spoils nothing. Each of the two is made for half of the permitted error, so that together they keep to it
(Bonferroni's inequality).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from steptime.analysis.student import t_quantile

# Assumed spread between repeats where there is only one: more than the 1 to 2 % seen between processes on a
# shared two-core machine, so that an interval from single runs errs on the wide side.
ASSUMED_SPREAD = 0.05


# With fewer repeats, too few are left after trimming one at each end.
_TRIM_FROM_REPEATS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A quantity above 0, measured in one repeat.

    Attributes:
        value: Such as the median time of a step.
        error: Relative standard error from within the repeat; 0 if it is not known.
    """

    value: float
    error: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """An estimate and what it may be.

    Attributes:
        value: The estimate: a geometric mean over repeats, trimmed or not, or a ratio of two.
        low: Lower end.
        high: Upper end.
        confidence: Share of such intervals that hold the true value.
        is_assumed: Whether the spread was assumed, since an arm has one repeat only.
    """

    value: float
    low: float
    high: float
    confidence: float
    is_assumed: bool

    def inverse(self) -> "Interval":
        """Return the interval of the reciprocal."""
        return Interval(
            value=1 / self.value,
            low=1 / self.high,
            high=1 / self.low,
            confidence=self.confidence,
            is_assumed=self.is_assumed,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Center:
    """Mean of logarithms over the repeats of an arm, and the variance of that mean."""

    mean: float
    variance: float
    repeats: int


def mean_interval(repeats: Sequence[Measured], confidence: float = 0.95) -> Interval:
    """Return the geometric mean over repeats with its interval.

    Args:
        repeats: One measurement from each repeat, at least one.
        confidence: Between 0 and 1.
    """
    known = _Center(mean=0.0, variance=0.0, repeats=1)
    pairs = [(known, center) for center in _centers(repeats)]
    return _narrowest(pairs, confidence, is_assumed=len(repeats) == 1)


def ratio_interval(
    baseline: Sequence[Measured], other: Sequence[Measured], confidence: float = 0.95
) -> Interval:
    """Return ``other`` divided by ``baseline`` with its interval.

    Args:
        baseline: One measurement from each repeat, at least one.
        other: The same for the other arm.
        confidence: Between 0 and 1.
    """
    # An arm that is too small to trim makes both too small.
    pairs = list(zip(_centers(baseline), _centers(other), strict=False))
    return _narrowest(pairs, confidence, is_assumed=min(len(baseline), len(other)) == 1)


def welch_df(*arms: tuple[float, int]) -> float:
    """Return the degrees of freedom of a difference of means, after Welch and Satterthwaite.

    Args:
        arms: For each arm the variance of its mean and its number of repeats. With one repeat the variance is
            an assumption and counts as known.
    """
    total = sum(variance for variance, _ in arms)
    # Shares of the total, since squares of tiny variances would be 0.
    parts = sum((variance / total) ** 2 / (n - 1) for variance, n in arms if n > 1 and total > 0)
    return max(1.0, 1 / parts) if parts > 0 else math.inf


def _centers(repeats: Sequence[Measured]) -> list[_Center]:
    """Return the plain center, and the trimmed one if there are enough repeats.

    The spread between repeats contains the error within them, so when chance makes it smaller, the error
    within is used: two repeats that agree by luck do not make a sure result.
    """
    logs = np.sort(np.log([repeat.value for repeat in repeats]))
    within = float(np.mean([repeat.error**2 for repeat in repeats]))
    n = len(logs)
    centers = [_center(logs, _variance(logs), within)]
    if n >= _TRIM_FROM_REPEATS:
        kept = logs[1:-1]
        pulled_in = np.concatenate([kept[:1], kept, kept[-1:]])
        variance = _variance(pulled_in) * (n - 1) / (len(kept) - 1)
        centers.append(_center(kept, variance, within))
    return centers


def _center(logs: npt.NDArray[np.float64], variance: float, within: float) -> _Center:
    return _Center(mean=float(np.mean(logs)), variance=max(variance, within) / len(logs), repeats=len(logs))


def _variance(logs: npt.NDArray[np.float64]) -> float:
    return float(np.var(logs, ddof=1)) if len(logs) > 1 else ASSUMED_SPREAD**2


def _narrowest(pairs: Sequence[tuple[_Center, _Center]], confidence: float, *, is_assumed: bool) -> Interval:
    """Return the narrowest interval of the differences, the permitted error being shared out among them."""
    probability = 1 - (1 - confidence) / len(pairs) / 2
    candidates = []
    for first, second in pairs:
        df = welch_df((first.variance, first.repeats), (second.variance, second.repeats))
        reach = t_quantile(probability, df) * math.sqrt(first.variance + second.variance)
        candidates.append((reach, second.mean - first.mean))
    reach, middle = min(candidates, key=lambda candidate: candidate[0])
    return Interval(
        value=math.exp(middle),
        low=math.exp(middle - reach),
        high=math.exp(middle + reach),
        confidence=confidence,
        is_assumed=is_assumed,
    )
