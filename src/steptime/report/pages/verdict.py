"""Verdicts in words: the same sentences on the terminal, in the page and in Markdown."""

import dataclasses

from steptime.analysis.comparison import ArmFacts, Comparison
from steptime.analysis.interval import Interval
from steptime.analysis.sentence import verdict_sentence
from steptime.analysis.verdict import Verdict

BASELINE = "baseline"


def headline(comparison: Comparison) -> str:
    """Return the answer in one sentence: about the fastest arm that trained no worse, or why there is none."""
    judged = [facts for facts in comparison.arms if facts.verdict is not None and facts.verdict.time_ratio]
    if not judged:
        failures = (f"{facts.arm.name}: {facts.failure}" for facts in comparison.arms if facts.failure)
        return f"There is nothing to compare: {'; '.join(failures) or 'no steady steps were timed'}."
    best = min(judged, key=_rank)
    # One reason is enough for a headline; all of them follow.
    return _sentence(best, comparison, reasons=1)


def other_sentences(comparison: Comparison) -> tuple[str, ...]:
    """Return one sentence for each arm, less the headline."""
    sentences = [
        _sentence(facts, comparison)
        for facts in comparison.arms
        if facts.verdict is not None or facts.failure
    ]
    lead = headline(comparison)
    return tuple(sentence for sentence in sentences if sentence != lead)


def short_verdict(facts: ArmFacts) -> str:
    """Return the verdict in a few words, for a table."""
    if not facts.repeats:
        return (facts.statuses or ("not run",))[-1]
    if facts.verdict is None:
        return BASELINE
    is_worse = facts.training is not None and facts.training.kind == "worse"
    return facts.verdict.kind + (", but trained worse" if is_worse else "")


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
        if facts.efficiency is not None and (facts.device or "").startswith("cpu"):
            found.append(
                f"{facts.arm.name}: CPU devices may share one processor; their speed-up tells nothing of GPUs"
            )
        target = facts.quantities.get("target_s")
        if target is not None and target.reason and not target.reason.startswith("not reached"):
            found.append(f"the target cannot be timed: {target.reason}")
    return tuple(dict.fromkeys(found))


def number(value: float) -> str:
    """Return a ratio with three digits."""
    if value >= 99.95:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def is_wide(interval: Interval) -> bool:
    """Return whether an interval says nothing: its ends are more than ten times apart."""
    return interval.high > 10 * interval.low


def _sentence(facts: ArmFacts, comparison: Comparison, reasons: int | None = None) -> str:
    name, verdict, training = facts.arm.name, facts.verdict, facts.training
    if verdict is None or verdict.time_ratio is None or training is None:
        return f"{name} has no result: {facts.failure or _why(verdict)}."
    checks = [
        dataclasses.replace(check, reason=f"{check.reason}, in {metric}")
        for metric, check in training.checks.items()
    ]
    text = verdict_sentence(
        dataclasses.replace(verdict, reasons=verdict.reasons[:reasons]),
        arm=name,
        baseline=comparison.baseline,
        training=checks,
    )
    if training.kind == "equal" and verdict.kind != "cannot tell":
        text += ", and it trained equally well"
    if training.kind == "unknown":
        text += f", and whether it trained equally well is not known ({training.reason})"
    # A name keeps its own small letters; only our own words begin with a capital.
    return f"{text[0].upper() + text[1:] if verdict.kind == 'cannot tell' else text}."


def _why(verdict: Verdict | None) -> str:
    return "; ".join(verdict.reasons) if verdict else "no steady steps were timed"


def _rank(facts: ArmFacts) -> tuple[bool, bool, float]:
    is_worse = facts.training is not None and facts.training.kind == "worse"
    is_unsure = facts.verdict is None or facts.verdict.kind == "cannot tell"
    ratio = facts.verdict.time_ratio.value if facts.verdict and facts.verdict.time_ratio else 0.0
    return is_worse, is_unsure, ratio
