"""Says whether an arm is faster, slower, the same, or why that cannot be told.

The rule, for the 95 % interval of the ratio of times (`steptime.analysis.interval`):

* **faster** or **slower**: the whole interval lies on one side of 1, and more than 1 % away from it. A smaller
  difference is never called, however often it is measured: it is within what memory layout alone does (Mytkowicz
  et al., "Producing wrong data without doing anything obviously wrong!", ASPLOS 2009), and the margin keeps the
  rate of false differences far below 5 %.
* **same**: otherwise, if the whole interval lies within 3 % of 1 (an equivalence test: Schuirmann, J.
  Pharmacokinetics and Biopharmaceutics 15, 1987, with a 95 % interval instead of his 90 %).
* **cannot tell**: otherwise, with the reasons that are seen.

The margins are taken on the logarithm, so that swapping the arms mirrors the verdict.

Looking at the result after each repeat and stopping when it pleases would find differences that are not there.
Whoever stops early must ask for `EARLY_CONFIDENCE` until the last look (the rule of Haybittle, British J. of
Radiology 44, 1971, and Peto).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from steptime.analysis.interval import Interval, Measured, ratio_interval
from steptime.analysis.steady import SteadyState

DIFFERENCE_MARGIN = 0.01
SAME_MARGIN = 0.03
CONFIDENCE = 0.95
EARLY_CONFIDENCE = 0.995
DEFAULT_REPEATS = 5

# A repeat further than this from the median of its arm is named as a reason.
_STRAY_LOG = math.log(1.1)
# Other work that differs by less than this share of the machine is not worth a word.
_OTHER_WORK_SHARE = 0.05
# From here on other work is named as a reason for wide intervals.
_BUSY_SHARE = 0.1
_THROTTLED_SHARE = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """One run of an arm.

    Attributes:
        steady: Its steady state, in any unit of time per step that both arms share.
        other_work_share: Share of the machine's processors that others used meanwhile, if known.
        throttled_share: Share of the time in which the device was slowed down, if known.
    """

    steady: SteadyState
    other_work_share: float | None = None
    throttled_share: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """An arm seen from the baseline.

    Attributes:
        kind: The verdict.
        time_ratio: Time of the arm divided by time of the baseline; below 1 the arm is faster. ``None`` if an
            arm has no run.
        reasons: Why it cannot be told, in words; empty for the other kinds.
        cautions: What else a reader should know, in words.
    """

    kind: Literal["faster", "slower", "same", "cannot tell"]
    time_ratio: Interval | None
    reasons: tuple[str, ...]
    cautions: tuple[str, ...]

    @property
    def speed_ratio(self) -> Interval | None:
        """How many times as fast as the baseline the arm is."""
        return None if self.time_ratio is None else self.time_ratio.inverse()


def judge(baseline: Sequence[Repeat], other: Sequence[Repeat], confidence: float = CONFIDENCE) -> Verdict:
    """Compare an arm with the baseline.

    Args:
        baseline: Runs of the baseline that ended well; their order is of no account.
        other: Runs of the arm.
        confidence: `CONFIDENCE`, or `EARLY_CONFIDENCE` to decide whether more repeats are needed.
    """
    if not baseline or not other:
        who = "the baseline" if not baseline else "the arm"
        return Verdict(
            kind="cannot tell", time_ratio=None, reasons=(f"{who} has no run that ended well",), cautions=()
        )
    ratio = ratio_interval(_measured(baseline), _measured(other), confidence)
    # Seen as "how much longer the slower one takes at least", so that swapping the arms changes nothing.
    least = max(math.log(ratio.low), -math.log(ratio.high))
    most = max(math.log(ratio.high), -math.log(ratio.low))
    is_slower = math.log(ratio.value) > 0
    slow, quick = (other, baseline) if is_slower else (baseline, other)
    excess = _more_other_work(slow, quick)
    cautions = _cautions(baseline, other, ratio)
    if least > math.log1p(DIFFERENCE_MARGIN):
        if least - _slowdown_log(excess) > math.log1p(DIFFERENCE_MARGIN):
            kind: Literal["faster", "slower"] = "slower" if is_slower else "faster"
            return Verdict(kind=kind, time_ratio=ratio, reasons=(), cautions=cautions)
        reason = f"others used {excess * 100:.0f} % more of the machine while the slower one ran"
        return Verdict(kind="cannot tell", time_ratio=ratio, reasons=(reason,), cautions=cautions)
    if most < math.log1p(SAME_MARGIN):
        return Verdict(kind="same", time_ratio=ratio, reasons=(), cautions=cautions)
    return Verdict(
        kind="cannot tell", time_ratio=ratio, reasons=_reasons(baseline, other, ratio), cautions=cautions
    )


def _measured(repeats: Sequence[Repeat]) -> list[Measured]:
    return [
        Measured(value=repeat.steady.median_s, error=repeat.steady.median_error or 0.0) for repeat in repeats
    ]


def _more_other_work(slow: Sequence[Repeat], quick: Sequence[Repeat]) -> float:
    """Return how much more of the machine others used while the slower arm ran; 0 if less, or not known."""
    of_slow, of_quick = _mean_other_work(slow), _mean_other_work(quick)
    if of_slow is None or of_quick is None:
        return 0.0
    excess = of_slow - of_quick
    return excess if excess > _OTHER_WORK_SHARE else 0.0


def _mean_other_work(repeats: Sequence[Repeat]) -> float | None:
    known = [repeat.other_work_share for repeat in repeats if repeat.other_work_share is not None]
    return float(np.mean(known)) if known else None


def _slowdown_log(excess: float) -> float:
    """Return the logarithm of the slow-down if all of the work had been taken from the run."""
    return -math.log1p(-min(excess, 0.99))


def _reasons(baseline: Sequence[Repeat], other: Sequence[Repeat], ratio: Interval) -> tuple[str, ...]:
    runs = f"{len(baseline)} and {len(other)} runs"
    reasons = [f"with {runs} the ratio may be anything from {ratio.low:.3g} to {ratio.high:.3g}"]
    for name, repeats in (("baseline", baseline), ("arm", other)):
        stray = _stray(repeats)
        if stray is not None:
            reasons.append(f"one run of the {name} lies {stray * 100:+.0f} % from its median")
    busy = _mean_other_work([*baseline, *other])
    if busy is not None and busy > _BUSY_SHARE:
        reasons.append(f"others used {busy * 100:.0f} % of the machine meanwhile")
    return tuple(reasons)


def _stray(repeats: Sequence[Repeat]) -> float | None:
    """Return how far the furthest repeat lies from the median of its arm, if that is remarkable."""
    logs = np.sort(np.log([repeat.steady.median_s for repeat in repeats]))
    offsets = logs - np.median(logs)
    furthest = float(offsets[np.argmax(np.abs(offsets))])
    return math.expm1(furthest) if abs(furthest) > _STRAY_LOG else None


def _cautions(baseline: Sequence[Repeat], other: Sequence[Repeat], ratio: Interval) -> tuple[str, ...]:
    cautions = []
    if ratio.is_assumed:
        cautions.append("an arm has one run only, so runs were assumed to differ by 5 %")
    for name, repeats in (("baseline", baseline), ("arm", other)):
        unsteady = sorted(repeat.steady.reason for repeat in repeats if repeat.steady.reason)
        if unsteady:
            cautions.append(f"{len(unsteady)} of {len(repeats)} runs of the {name} not steady: {unsteady[0]}")
        throttled = [r.throttled_share for r in repeats if r.throttled_share is not None]
        if throttled and np.mean(throttled) > _THROTTLED_SHARE:
            cautions.append(
                f"the {name}'s device was slowed down {np.mean(throttled) * 100:.0f} % of the time"
            )
    return tuple(cautions)
