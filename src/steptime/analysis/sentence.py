"""Puts a verdict into one sentence."""

from collections.abc import Sequence

from steptime.analysis.interval import Interval
from steptime.analysis.training import TrainingCheck
from steptime.analysis.verdict import SAME_MARGIN, Verdict

# From here on "times as fast" is easier to grasp than per cent of time.
_TIMES_FROM = 1.5


def verdict_sentence(
    verdict: Verdict, *, arm: str, baseline: str, training: Sequence[TrainingCheck] = ()
) -> str:
    """Say what a comparison found.

    Args:
        verdict: The arm seen from the baseline.
        arm: Name of the arm.
        baseline: Name of the baseline.
        training: Checks of the final loss and metrics; one that is worse, or else better, joins the sentence.
    """
    sentence = _speed(verdict, arm, baseline)
    worse = [check for check in training if check.quality == "worse"]
    better = [check for check in training if check.quality == "better"]
    if worse:
        return f"{sentence}, but it {worse[0].reason}"
    return f"{sentence}, and it {better[0].reason}" if better else sentence


def _speed(verdict: Verdict, arm: str, baseline: str) -> str:
    ratio = verdict.time_ratio
    if ratio is None or verdict.kind == "cannot tell":
        return f"whether {arm} is faster than {baseline} cannot be told: {'; '.join(verdict.reasons)}"
    if verdict.kind == "same":
        return f"{arm} is as fast as {baseline}: any difference is below {SAME_MARGIN * 100:.0f} %"
    if verdict.kind == "faster" and ratio.value <= 1 / _TIMES_FROM:
        return f"{arm} is {_times(ratio.inverse(), 'as fast as', baseline)}"
    if verdict.kind == "slower" and ratio.value >= _TIMES_FROM:
        return f"{arm} takes {_times(ratio, 'as long as', baseline)}"
    return f"{arm} is {_per_cent(ratio, baseline)}"


def _times(ratio: Interval, words: str, baseline: str) -> str:
    limits = f"{_confidence(ratio)} {ratio.low:.3g} to {ratio.high:.3g}"
    return f"{ratio.value:.3g} times {words} {baseline} ({limits})"


def _per_cent(ratio: Interval, baseline: str) -> str:
    """Say by how much of the baseline's time a step became shorter or longer."""
    changes = [abs(value - 1) * 100 for value in (ratio.value, ratio.low, ratio.high)]
    word = "faster" if ratio.value < 1 else "slower"
    way = "less" if ratio.value < 1 else "more"
    limits = f"{_confidence(ratio)} {min(changes[1:]):.1f} to {max(changes[1:]):.1f} %"
    return f"{word} than {baseline}: a step takes {changes[0]:.1f} % {way} time ({limits})"


def _confidence(ratio: Interval) -> str:
    return f"{ratio.confidence * 100:g} % interval"
