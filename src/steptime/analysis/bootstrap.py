"""Bootstrap intervals: over the blocks of one run, and over repeats and then blocks within them.

* Blocks: the moving-block bootstrap (Kuensch, "The jackknife and the bootstrap for general stationary
  observations", Annals of Statistics 17, 1989), because neighbouring blocks are alike. Stretches are n^(1/3)
  blocks long.
* Repeats: the hierarchical bootstrap (Davison and Hinkley, Bootstrap Methods and their Application, 1997,
  section 3.8; Saravanan, Berman and Sober, "Application of the hierarchical bootstrap to multi-level data in
  neuroscience", 2020): repeats are drawn with replacement, then blocks within each.

An interval over blocks says nothing about the next run, and one over repeats is too narrow below about 8
repeats (see docs/measuring.md for the measured coverage). Verdicts therefore use `steptime.analysis.interval`;
these intervals describe single runs and many repeats, with no assumption about the form of the noise.

All draws come from a generator with a fixed seed, so the same data give the same interval.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from steptime.analysis.interval import Interval

Array = npt.NDArray[np.float64]

RESAMPLES = 2000
# Bounds the memory of one chunk of draws to some tens of megabytes.
_CHUNK_DRAWS = 2**21


def block_interval(
    step_s: npt.ArrayLike, confidence: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> Interval:
    """Return the median of one run's blocks with its percentile interval.

    Args:
        step_s: Time per step of each steady block in order, shape (n,), all above 0.
        confidence: Between 0 and 1.
        resamples: Number of draws.
        seed: Seed of the draws.
    """
    times = np.asarray(step_s, dtype=np.float64)
    draws = _block_medians(times, resamples, np.random.default_rng(seed))
    return _percentiles(float(np.median(times)), draws, confidence)


def repeats_interval(
    repeats: Sequence[npt.ArrayLike], confidence: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> Interval:
    """Return the geometric mean of the repeats' medians with its hierarchical interval.

    Args:
        repeats: For each repeat, the time per step of its steady blocks, shape (n,), all above 0.
        confidence: Between 0 and 1.
        resamples: Number of draws.
        seed: Seed of the draws.
    """
    rng = np.random.default_rng(seed)
    return _percentiles(np.exp(_log_center(repeats)), np.exp(_log_draws(repeats, resamples, rng)), confidence)


def ratio_of_medians_interval(
    baseline: Sequence[npt.ArrayLike],
    other: Sequence[npt.ArrayLike],
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval:
    """Return ``other`` divided by ``baseline`` with its hierarchical interval.

    Args:
        baseline: As in `repeats_interval`.
        other: The same for the other arm; the number of repeats may differ.
        confidence: Between 0 and 1.
        resamples: Number of draws.
        seed: Seed of the draws; each arm has a stream of its own.
    """
    streams = np.random.default_rng(seed).spawn(2)
    value = np.exp(_log_center(other) - _log_center(baseline))
    draws = _log_draws(other, resamples, streams[1]) - _log_draws(baseline, resamples, streams[0])
    return _percentiles(value, np.exp(draws), confidence)


def _log_center(repeats: Sequence[npt.ArrayLike]) -> float:
    return float(np.mean([np.log(np.median(np.asarray(blocks))) for blocks in repeats]))


def _log_draws(repeats: Sequence[npt.ArrayLike], resamples: int, rng: np.random.Generator) -> Array:
    """Return ``resamples`` values of the mean of logarithms of medians, shape (resamples,)."""
    n = len(repeats)
    medians = np.log(
        [_block_medians(np.asarray(blocks, dtype=np.float64), resamples, rng) for blocks in repeats]
    )
    chosen = rng.integers(0, n, size=(resamples, n))
    # A repeat that is drawn twice in one resample gets two independent draws of its blocks.
    columns = (np.arange(resamples)[:, None] + np.arange(n) * (resamples // n)) % resamples
    means: Array = medians[chosen, columns].mean(axis=1)
    return means


def _block_medians(times: Array, resamples: int, rng: np.random.Generator) -> Array:
    n = len(times)
    length = max(1, round(n ** (1 / 3)))
    stretches = -(-n // length)
    offsets = np.arange(length)
    medians = []
    for done in range(0, resamples, max(1, _CHUNK_DRAWS // n)):
        rows = min(resamples - done, max(1, _CHUNK_DRAWS // n))
        starts = rng.integers(0, n - length + 1, size=(rows, stretches))
        picks = (starts[:, :, None] + offsets).reshape(rows, -1)[:, :n]
        medians.append(np.median(times[picks], axis=1))
    return np.concatenate(medians)


def _percentiles(value: float, draws: Array, confidence: float) -> Interval:
    low, high = np.quantile(draws, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(
        value=float(value), low=float(low), high=float(high), confidence=confidence, is_assumed=False
    )
