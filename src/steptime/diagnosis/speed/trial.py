"""What a remedy really saved, beside what was predicted: made from a comparison of runs with and without it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from steptime.analysis.comparison import ArmFacts, Comparison
from steptime.analysis.interval import Interval
from steptime.diagnosis.speed.rule import SpeedFinding
from steptime.record.stored import StoredRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One remedy that was tried.

    Attributes:
        kind: Kind of the finding.
        patch: The settings that were changed.
        predicted_s: What the finding said it saves at most, in seconds per step; None when it had no price.
        saved_s: Seconds per step of the run as it was, measured, with its interval; None when not known.
        verdict: faster, slower, same, cannot tell, or failed.
        training: equal, worse or unknown: whether it trained equally well.
        reason: What to keep in mind about it; None for nothing.
    """

    kind: str
    patch: Mapping[str, str]
    predicted_s: float | None
    saved_s: Interval | None
    verdict: str
    training: str
    reason: str | None


def trials_of(
    comparison: Comparison, runs: Mapping[str, Sequence[StoredRun]], findings: Sequence[SpeedFinding]
) -> tuple[Trial, ...]:
    """Return what came of each remedy.

    Args:
        comparison: Of the run as it was, which is the baseline, with an arm for each kind of finding.
        runs: The runs of each arm, by its name.
        findings: Those whose remedies were tried.
    """
    base = comparison.arm(comparison.baseline)
    before = base.quantities.get("step_s")
    step_s = before.value.value if before and before.value else None
    validated_s = {name: _validation_step_s(own) for name, own in runs.items()}
    trials = []
    for finding in findings:
        facts = comparison.arm(finding.kind)
        by_validation_s = validated_s[base.arm.name] - validated_s[finding.kind] if facts.repeats else 0.0
        if "validation_freq" not in finding.remedy.patch:
            by_validation_s = 0.0  # it did not change, and its noise is not the remedy's
        trials.append(_trial(finding, facts, step_s, by_validation_s))
    return tuple(trials)


def _trial(finding: SpeedFinding, facts: ArmFacts, step_s: float | None, by_validation_s: float) -> Trial:
    verdict = facts.verdict
    saved_s = None
    if step_s is not None and verdict is not None and verdict.time_ratio is not None:
        ratio = verdict.time_ratio
        saved_s = Interval(
            value=step_s * (1 - ratio.value) + by_validation_s,
            low=step_s * (1 - ratio.high) + by_validation_s,
            high=step_s * (1 - ratio.low) + by_validation_s,
            confidence=ratio.confidence,
            is_assumed=ratio.is_assumed,
        )
    answer = verdict.kind if verdict and facts.repeats else "failed"
    if answer == "same" and saved_s is not None and by_validation_s > 0 and saved_s.low > 0:
        answer = "faster"
    return Trial(
        kind=finding.kind,
        patch=finding.remedy.patch,
        predicted_s=finding.saves_step_s,
        saved_s=saved_s,
        verdict=answer,
        training=facts.training.kind if facts.training else "unknown",
        reason=facts.failure or "; ".join(verdict.reasons if verdict else ()) or None,
    )


def _validation_step_s(runs: Sequence[StoredRun]) -> float:
    """Seconds of validation for each training step, over all epochs of some runs."""
    epochs = [epoch for run in runs for epoch in run.record.epochs]
    steps = sum(epoch.steps for epoch in epochs)
    return sum(epoch.validate_ns or 0 for epoch in epochs) / 1e9 / steps if steps else 0.0
