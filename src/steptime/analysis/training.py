"""Whether two arms trained equally well, up to the noise that another seed would make.

A faster arm that learns worse is not a faster way to the same model. Final losses or metrics of the repeats are
compared by Welch's t, as times are (see `steptime.analysis.interval`), but as differences. Where the noise
between seeds is not visible, because there is one repeat or all repeats used one seed and gave one value, it is
assumed: for a share such as accuracy the sampling noise of the validation set, sqrt(p (1 - p) / n), which
Bouthillier et al. ("Accounting for variance in machine learning benchmarks", MLSys 2021) found to be more than
what the seeds of a training do; for a loss 5 % of it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from steptime.analysis.interval import welch_df
from steptime.analysis.student import t_quantile

_ASSUMED_LOSS_SPREAD = 0.05

# Smaller differences are of no interest, however sure: 0.1 percentage points of a share, 1 % of a loss.
_SHARE_TOLERANCE = 0.001
_LOSS_TOLERANCE = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingCheck:
    """How well an arm trained, seen from the baseline.

    Attributes:
        quality: ``equal`` means that no difference beyond noise was found.
        difference: Mean of the arm less mean of the baseline; ``None`` if one of them has no finite value.
        reach: Half width of the difference's 95 % interval; ``None`` likewise.
        is_assumed: Whether the noise between seeds was assumed.
        reason: The finding in words, without the names of the arms.
    """

    quality: Literal["equal", "better", "worse", "unknown"]
    difference: float | None
    reach: float | None
    is_assumed: bool
    reason: str


def compare_training(
    baseline: Sequence[float],
    other: Sequence[float],
    *,
    higher_is_better: bool,
    samples: int | None = None,
    confidence: float = 0.95,
) -> TrainingCheck:
    """Compare final losses or metrics of two arms.

    Args:
        baseline: One value from each repeat; not a number or infinite where the training diverged.
        other: The same for the other arm.
        higher_is_better: True for a share such as accuracy, False for a loss.
        samples: Number of validation samples, if known.
        confidence: Between 0 and 1.
    """
    if not baseline or not other:
        return _unknown("there is no value to compare")
    diverged_base = sum(not math.isfinite(value) for value in baseline)
    diverged_other = sum(not math.isfinite(value) for value in other)
    if diverged_base or diverged_other:
        return _diverged(diverged_base, len(baseline), diverged_other, len(other))
    base_variance, base_assumed = _variance(baseline, higher_is_better, samples)
    other_variance, other_assumed = _variance(other, higher_is_better, samples)
    difference = float(np.mean(other) - np.mean(baseline))
    df = welch_df(
        (base_variance, 1 if base_assumed else len(baseline)),
        (other_variance, 1 if other_assumed else len(other)),
    )
    reach = t_quantile((1 + confidence) / 2, df) * math.sqrt(base_variance + other_variance)
    scale = max(abs(float(np.mean(baseline))), abs(float(np.mean(other))))
    tolerance = _SHARE_TOLERANCE if higher_is_better else _LOSS_TOLERANCE * scale
    gain = difference if higher_is_better else -difference
    quality, words = _quality(gain, reach, tolerance)
    return TrainingCheck(
        quality=quality,
        difference=difference,
        reach=reach,
        is_assumed=base_assumed or other_assumed,
        reason=f"{words}: {np.mean(other):.4g} against {np.mean(baseline):.4g} (noise ±{reach:.2g})",
    )


def _quality(gain: float, reach: float, tolerance: float) -> tuple[Literal["equal", "better", "worse"], str]:
    if abs(gain) <= max(reach, tolerance):
        return "equal", "no difference beyond noise"
    return ("better", "trained better") if gain > 0 else ("worse", "trained worse")


def _variance(values: Sequence[float], is_share: bool, samples: int | None) -> tuple[float, bool]:
    """Return the variance of the mean, and whether it was assumed."""
    if len(set(values)) > 1:
        return float(np.var(values, ddof=1)) / len(values), False
    mean = float(np.mean(values))
    if is_share and samples and 0 <= mean <= 1:
        # One success added keeps a perfect score from looking free of noise.
        share = (mean * samples + 1) / (samples + 2)
        return share * (1 - share) / samples, True
    return (_ASSUMED_LOSS_SPREAD * mean) ** 2, True


def _diverged(base: int, of_base: int, other: int, of_other: int) -> TrainingCheck:
    if base / of_base == other / of_other:
        return _unknown(f"the loss became infinite or not a number in {other} of {of_other} runs of both")
    quality: Literal["worse", "better"] = "worse" if other / of_other > base / of_base else "better"
    return TrainingCheck(
        quality=quality,
        difference=None,
        reach=None,
        is_assumed=False,
        reason=f"diverged in {other} of {of_other} runs, the baseline in {base} of {of_base}",
    )


def _unknown(reason: str) -> TrainingCheck:
    return TrainingCheck(quality="unknown", difference=None, reach=None, is_assumed=False, reason=reason)
