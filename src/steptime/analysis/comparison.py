"""Compares arms: every quantity with its interval, its ratio to the baseline, and a verdict in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from steptime.analysis.differences import Difference, find_differences
from steptime.analysis.efficiency import replicas_of, scaling_efficiency
from steptime.analysis.interval import Interval, Measured, mean_interval, ratio_interval
from steptime.analysis.quality import Metric, TrainingQuality, final_metrics, judge_training
from steptime.analysis.quantities import RunMeasures, measure
from steptime.analysis.target import Target
from steptime.analysis.verdict import CONFIDENCE, Repeat, Verdict, judge
from steptime.plan.arm import Arm
from steptime.record.stored import StoredRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One quantity of one arm.

    Attributes:
        value: Geometric mean over the repeats, with its interval; None when it is not known.
        reason: Why it is not known; None when it is.
        ratio: The value divided by that of the baseline; None for the baseline, or where one is not known.
    """

    value: Interval | None
    reason: str | None
    ratio: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmFacts:
    """What came of one arm.

    Attributes:
        arm: The arm.
        statuses: How each of its runs ended, in order.
        failure: Why it has no result, or fewer than asked for; None when all went well.
        device: What it ran on, as its records say.
        quantities: Estimates by key.
        metrics: Final losses and metrics by name.
        parts_s: Seconds of each part of a run, the mean over repeats.
        verdict: Its speed, seen from the baseline; None for the baseline.
        training: How well it trained, seen from the baseline; None for the baseline.
        replicas: How many devices trained together; None when its runs differ in that, or none ended well.
        efficiency: Its speed-up as a share of what its further devices could bring; None where the baseline has
            as many.
    """

    arm: Arm
    statuses: tuple[str, ...]
    failure: str | None
    device: str | None
    quantities: Mapping[str, Estimate]
    metrics: Mapping[str, Metric]
    parts_s: Mapping[str, float]
    verdict: Verdict | None
    training: TrainingQuality | None
    replicas: int | None = 1
    efficiency: Interval | None = None

    @property
    def repeats(self) -> int:
        """Number of runs that ended well."""
        return self.statuses.count("ok")


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The whole answer.

    Attributes:
        baseline: Name of the arm that the others are compared with.
        arms: The arms, in the order in which they were asked for.
        differences: In what they differ beyond what they say; all of them allowed by whoever asked.
        target: What was timed, such as ``val_accuracy >= 0.98``; None when nothing was.
        confidence: Of all intervals.
    """

    baseline: str
    arms: tuple[ArmFacts, ...]
    differences: tuple[Difference, ...]
    target: str | None
    confidence: float

    def arm(self, name: str) -> ArmFacts:
        """Return one arm by its name."""
        return next(facts for facts in self.arms if facts.arm.name == name)

    @property
    def is_clear(self) -> bool:
        """Whether every arm that ran has a verdict other than that it cannot be told."""
        verdicts = [facts.verdict for facts in self.arms if facts.verdict is not None and facts.repeats]
        return bool(verdicts) and all(verdict.kind != "cannot tell" for verdict in verdicts)


def compare(
    runs: Sequence[tuple[Arm, Sequence[StoredRun]]],
    baseline: str,
    target: Target | None = None,
    confidence: float = CONFIDENCE,
) -> Comparison:
    """Compare arms with one of them.

    Args:
        runs: The runs of each arm, however they ended, in the order in which arms are shown.
        baseline: Name of the arm to compare with.
        target: The target to time, if any.
        confidence: `verdict.CONFIDENCE`, or `verdict.EARLY_CONFIDENCE` to decide whether more runs are needed.
    """
    good = {arm.name: [run for run in own if run.record.outcome.status == "ok"] for arm, own in runs}
    per_sample = all(
        bool((run.steps["samples"] > 0).all())
        for own in good.values()
        for run in own
        if len(run.steps.get("samples", ()))
    )
    measures = {
        name: [measure(run, target, per_sample=per_sample) for run in own] for name, own in good.items()
    }
    return Comparison(
        baseline=baseline,
        arms=tuple(_arm_facts(arm, own, good, measures, baseline, confidence) for arm, own in runs),
        differences=find_differences({name: [run.record for run in own] for name, own in good.items()}),
        target=str(target) if target else None,
        confidence=confidence,
    )


def _arm_facts(
    arm: Arm,
    runs: Sequence[StoredRun],
    good: Mapping[str, Sequence[StoredRun]],
    measures: Mapping[str, Sequence[RunMeasures]],
    baseline: str,
    confidence: float,
) -> ArmFacts:
    own, base = measures[arm.name], measures[baseline]
    is_baseline = arm.name == baseline
    verdict = training = None
    if not is_baseline:
        verdict = judge(_repeats(good[baseline], base), _repeats(good[arm.name], own), confidence)
        training = judge_training(
            [run.record for run in good[baseline]], [run.record for run in good[arm.name]], confidence
        )
    keys = dict.fromkeys(key for measured in own for key in measured.values)
    replicas = replicas_of(good[arm.name])
    return ArmFacts(
        arm=arm,
        statuses=tuple(run.record.outcome.status for run in runs),
        failure=_failure(runs),
        device=_device(good[arm.name]),
        quantities={key: _estimate(key, own, [] if is_baseline else base, confidence) for key in keys},
        metrics=final_metrics([run.record for run in good[arm.name]], confidence),
        parts_s=_mean_parts(own),
        verdict=verdict,
        training=training,
        replicas=replicas,
        efficiency=scaling_efficiency(verdict, replicas_of(good[baseline]), replicas),
    )


def _estimate(
    key: str, own: Sequence[RunMeasures], base: Sequence[RunMeasures], confidence: float
) -> Estimate:
    known, reasons = _known(key, own)
    if reasons:
        # A mean over the runs that happened to reach a target would flatter; so all must be known.
        few = f" ({len(reasons)} of {len(own)} runs)" if known else ""
        return Estimate(value=None, reason=reasons[0] + few, ratio=None)
    of_base, base_reasons = _known(key, base)
    ratio = ratio_interval(of_base, known, confidence) if of_base and not base_reasons else None
    return Estimate(value=mean_interval(known, confidence), reason=None, ratio=ratio)


def _known(key: str, measures: Sequence[RunMeasures]) -> tuple[list[Measured], list[str]]:
    values = [measured.values.get(key, "it was not measured") for measured in measures]
    known = [value for value in values if isinstance(value, Measured) and value.value > 0]
    return known, [value for value in values if isinstance(value, str)]


def _repeats(runs: Sequence[StoredRun], measures: Sequence[RunMeasures]) -> list[Repeat]:
    """Return what the verdict is made from; the CPU's other work slows whoever runs on it, a GPU's feed too."""
    repeats = []
    for run, measured in zip(runs, measures, strict=True):
        if measured.steady is None:
            continue
        uses = run.record.devices
        others = [use.other_work_share for use in uses if use.other_work_share is not None]
        slowed = [use.throttled_share for use in uses if use.throttled_share is not None]
        repeats.append(
            Repeat(
                steady=measured.steady,
                other_work_share=max(others, default=None),
                throttled_share=max(slowed, default=None),
            )
        )
    return repeats


def _failure(runs: Sequence[StoredRun]) -> str | None:
    for run in runs:
        outcome = run.record.outcome
        if outcome.status != "ok":
            ended = "failed" if outcome.status == "failed" else f"was {outcome.status}"
            reason = (outcome.reason or "no reason is known").rstrip(".")
            return f"it {ended} in phase {outcome.phase}: {reason}"
    return None if runs else "it was not run"


def _device(runs: Sequence[StoredRun]) -> str | None:
    if not runs:
        return None
    record = runs[0].record
    environment = record.environment
    if record.device is None or environment is None:
        return record.device
    if record.device == "cpu":
        return f"cpu: {environment.host.get('cpu_model') or 'unnamed processor'}"
    # CUDA_VISIBLE_DEVICES left this one GPU usable, so the reason of the choice names it.
    return f"{record.device}: {(record.device_reason or '').rpartition(': ')[2]}"


def _mean_parts(measures: Sequence[RunMeasures]) -> dict[str, float]:
    parts = dict.fromkeys(part for measured in measures for part in measured.parts_s)
    return {part: float(np.mean([m.parts_s.get(part, 0.0) for m in measures])) for part in parts}
