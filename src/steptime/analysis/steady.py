"""Finds where a run's step times become steady, and how well the typical step is known from there on.

Method, in order:

1. Times are looked at as logarithms, since noise and drift of a machine are proportional to speed.
2. Outliers are clipped to three interquartile ranges around the quartiles of the second half ("far out" in
   Tukey, Exploratory Data Analysis, 1977), so that a late stall cannot move the cut. They are clipped for this
   search only and never removed from the figures.
3. MSER-5 picks the cut: of all cuts in the first half, the one that leaves the mean of the rest with the
   smallest standard error (White, "An effective truncation heuristic for bias reduction in simulation output",
   Simulation 69, 1997; the choice of Hoad, Robinson and Davies, "Automating warm-up length estimation",
   J. Operational Research Society 61, 2010). Series of fewer than 100 blocks are not batched.
4. The rest is steady unless its first and last third differ by more than 3 % and more than three standard
   errors, or the cut ran into its limit and the blocks before it still differed by more than 3 %. Not reaching
   a steady state is a finding, not an error: many processes never do (Barrett et al., "Virtual machine warmup
   blows hot and cold", OOPSLA 2017).
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

# With fewer blocks a cut cannot be told from noise.
MIN_BLOCKS = 8
_BATCH = 5
_BATCH_FROM_BLOCKS = 100
_CHANGE_LOG = math.log(1.03)
# Hampel's identifier: further from the median than this many scaled absolute deviations.
_OUTLIER_DEVIATIONS = 5.0
# Scales the median absolute deviation to the standard deviation of normal noise.
_MAD_TO_SD = 1.4826


@dataclass(frozen=True, slots=True, kw_only=True)
class SteadyState:
    """The steady part of a run.

    Attributes:
        first: Index of the first steady block.
        blocks: Number of steady blocks.
        is_steady: Whether a steady state was reached.
        reason: Why not; ``None`` if it was.
        median_s: Median of the steady blocks, in the unit that was given.
        median_error: Standard error of the logarithm of that median, which is its relative standard error;
            ``None`` with fewer than 3 blocks.
        outlier_share: Share of the steady blocks that lie far from the median.
        stall_share: Share of the steady time that is lost to blocks above the median: 1 - median / mean, or 0.
    """

    first: int
    blocks: int
    is_steady: bool
    reason: str | None
    median_s: float
    median_error: float | None
    outlier_share: float
    stall_share: float


def find_steady(step_s: npt.ArrayLike) -> SteadyState:
    """Find the steady part of one run.

    Args:
        step_s: Time per step of each block in the order of execution, shape (n,), all above 0. Blocks that
            compiled or ran in another loop are left out by the caller.

    Raises:
        ValueError: There is no block, or a time is not a finite number above 0.
    """
    times = np.asarray(step_s, dtype=np.float64)
    if times.ndim != 1 or not len(times) or not np.all(np.isfinite(times) & (times > 0)):
        raise ValueError("block times must be a non-empty row of finite numbers above 0")
    logs = np.log(times)
    n = len(logs)
    first = _cut(_clip(logs)) if n >= MIN_BLOCKS else 0
    rest = logs[first:]
    reason = _unsteadiness(logs, first)
    median = float(np.median(rest))
    deviation = _MAD_TO_SD * float(np.median(np.abs(rest - median)))
    # A run on a quiet machine has outliers of a fraction of a per cent, which nobody needs to hear of.
    far = np.abs(rest - median) > max(_OUTLIER_DEVIATIONS * deviation, 0.01)
    median_s = math.exp(median)
    return SteadyState(
        first=first,
        blocks=len(rest),
        is_steady=reason is None,
        reason=reason,
        median_s=median_s,
        median_error=median_error(rest),
        outlier_share=float(far.mean()),
        stall_share=max(0.0, 1.0 - median_s / float(times[first:].mean())),
    )


def median_error(values: Array) -> float | None:
    """Return the standard error of the median of a series whose neighbours may be alike.

    Medians of contiguous batches are compared (the method of batch means, Law, Simulation Modeling and
    Analysis, section 9.5.3, with medians); with fewer than 16 values they are taken as independent, and the
    error is that of the median of normal noise, sqrt(pi / 2) standard deviations over sqrt(n).

    Args:
        values: Shape (n,).
    """
    n = len(values)
    if n < 3:
        return None
    if n < 16:
        return math.sqrt(math.pi / 2) * float(np.std(values, ddof=1)) / math.sqrt(n)
    batches = min(16, n // 4)
    kept = values[n % batches :].reshape(batches, -1)
    return float(np.std(np.median(kept, axis=1), ddof=1)) / math.sqrt(batches)


def _clip(logs: Array) -> Array:
    low, high = np.percentile(logs[len(logs) // 2 :], [25, 75])
    reach = 3 * (high - low)
    return np.clip(logs, low - reach, high + reach)


def _cut(values: Array) -> int:
    """Return the cut in the first half that minimises the marginal standard error (MSER)."""
    batch = _BATCH if len(values) >= _BATCH_FROM_BLOCKS else 1
    # An incomplete batch is dropped at the start, where the values are least like the rest.
    spare = len(values) % batch
    means = values[spare:].reshape(-1, batch).mean(axis=1)
    means = means - means.mean()  # keeps the differences of large sums below exact
    left = np.arange(len(means), 0, -1)
    sums, squares = np.cumsum(means[::-1])[::-1], np.cumsum(means[::-1] ** 2)[::-1]
    error = (squares - sums**2 / left) / left**2
    cut = int(np.argmin(error[: len(means) // 2 + 1]))
    return spare + cut * batch if cut else 0


def _unsteadiness(logs: Array, first: int) -> str | None:
    """Return why the blocks from ``first`` on are not steady, or ``None`` if they are."""
    if len(logs) < MIN_BLOCKS:
        return f"only {len(logs)} blocks were timed, and {MIN_BLOCKS} are needed to see a steady state"
    rest = logs[first:]
    third = len(rest) // 3
    change = float(np.median(rest[-third:]) - np.median(rest[:third]))
    # A third has three times the variance of the whole, and two of them are compared.
    error = math.sqrt(6) * (median_error(_detrended(rest)) or 0.0)
    if abs(change) > max(_CHANGE_LOG, 3 * error):
        way = "longer" if change > 0 else "shorter"
        return f"steps still became {math.expm1(abs(change)) * 100:.0f} % {way} within the steady part"
    dropped = logs[:first]
    if first >= len(logs) // 2 and abs(np.median(dropped[-third:]) - np.median(rest)) > _CHANGE_LOG:
        return "step times were still settling after half of the run"
    return None


def _detrended(values: Array) -> Array:
    places = np.arange(len(values)) - (len(values) - 1) / 2
    slope = places @ values / (places @ places)
    rest: Array = values - slope * places
    return rest
