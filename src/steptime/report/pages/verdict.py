"""Verdicts in words: the same sentences on the terminal, in the page and in Markdown."""

from steptime.analysis.comparison import ArmFacts, Comparison
from steptime.analysis.interval import Interval

BASELINE = "baseline"


def headline(comparison: Comparison) -> str:
    """Return the answer in one sentence: about the fastest arm that trained no worse, or why there is none."""
    judged = [facts for facts in comparison.arms if facts.verdict is not None and facts.verdict.time_ratio]
    if not judged:
        return "There is nothing to compare: " + "; ".join(
            f"{facts.arm.name}: {facts.failure}" for facts in comparison.arms if facts.failure
        )
    best = min(judged, key=_rank)
    if best.verdict is not None and best.verdict.kind == "cannot tell":
        # One reason is enough for a headline; all of them follow.
        return f"{_undecided(best, comparison)}: {best.verdict.reasons[0]}."
    return f"{sentence(best, comparison)}."


def other_sentences(comparison: Comparison) -> tuple[str, ...]:
    """Return one sentence for each arm that the headline is not about."""
    lead = headline(comparison)
    sentences = [
        f"{sentence(facts, comparison)}."
        for facts in comparison.arms
        if facts.verdict is not None or facts.failure
    ]
    return tuple(item for item in sentences if item != lead)


def sentence(facts: ArmFacts, comparison: Comparison) -> str:
    """Return one arm's verdict as a sentence without its full stop."""
    name, base = facts.arm.name, comparison.baseline
    if facts.verdict is None or facts.verdict.time_ratio is None:
        return f"{name} has no result: {facts.failure or '; '.join(facts.verdict.reasons if facts.verdict else ())}"
    verdict, ratio = facts.verdict, facts.verdict.time_ratio
    if verdict.kind == "faster":
        text = f"{name} is {times(ratio.inverse())} as fast as {base}"
    elif verdict.kind == "slower":
        text = f"{name} takes {times(ratio)} as long as {base}"
    elif verdict.kind == "same":
        text = f"{name} is as fast as {base}, to within {_within(ratio)}"
    else:
        return f"{_undecided(facts, comparison)}: {'; '.join(verdict.reasons)}"
    return f"{text} {_quality(facts)}"


def short_verdict(facts: ArmFacts) -> str:
    """Return the verdict in a few words, for a table."""
    if facts.verdict is None:
        return BASELINE if facts.repeats else (facts.statuses or ("not run",))[-1]
    if facts.verdict.time_ratio is None:
        return next((status for status in facts.statuses if status != "ok"), "no result")
    training = facts.training.kind if facts.training else "unknown"
    worse = ", but trained worse" if training == "worse" else ""
    return facts.verdict.kind + worse


def cautions(comparison: Comparison) -> tuple[str, ...]:
    """Return what a reader should keep in mind, each once."""
    found = []
    for facts in comparison.arms:
        if facts.verdict is not None:
            found += [
                f"{facts.arm.name} against {comparison.baseline}: {text}" for text in facts.verdict.cautions
            ]
        if facts.repeats and facts.failure:
            found.append(
                f"{facts.arm.name}: {facts.repeats} runs ended well, another did not ({facts.failure})"
            )
    return tuple(dict.fromkeys(found))


def times(ratio: Interval) -> str:
    """Return a ratio with its interval, such as ``1.87 times (1.78 to 1.96)``."""
    return f"{number(ratio.value)} times ({number(ratio.low)} to {number(ratio.high)})"


def is_wide(interval: Interval) -> bool:
    """Return whether an interval says nothing: its ends are more than ten times apart."""
    return interval.high > 10 * interval.low


def _undecided(facts: ArmFacts, comparison: Comparison) -> str:
    return f"Cannot tell whether {facts.arm.name} is faster than {comparison.baseline}"


def _rank(facts: ArmFacts) -> tuple[bool, bool, float]:
    verdict = facts.verdict
    is_worse = facts.training is not None and facts.training.kind == "worse"
    is_unsure = verdict is None or verdict.kind == "cannot tell"
    ratio = verdict.time_ratio.value if verdict and verdict.time_ratio else 0.0
    return is_worse, is_unsure, ratio


def _quality(facts: ArmFacts) -> str:
    training = facts.training
    if training is None or training.kind == "unknown":
        return f"(whether it trained equally well is not known: {training.reason if training else 'not checked'})"
    if training.kind == "worse":
        return f"but trained worse ({training.reason})"
    return "and trained better" if training.kind == "better" else "and trained equally well"


def _within(ratio: Interval) -> str:
    most = max(ratio.high, 1 / ratio.low) - 1
    return f"{most * 100:.1f} %"


def number(value: float) -> str:
    """Return a ratio with three digits."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"
