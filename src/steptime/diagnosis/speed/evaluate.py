"""Weighs the rules about speed: what is there, what it costs at most, and what could not be checked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from steptime import units
from steptime.diagnosis.condition import Situation, Verdict
from steptime.diagnosis.speed.rule import (
    Remedy,
    SpeedDiagnosis,
    SpeedFinding,
    SpeedRule,
    Way,
    filled,
    shown,
    typed,
)
from steptime.diagnosis.text import Text
from steptime.environment.facts import DOES_NOT_APPLY, Facts

MANUAL = "docs/profile.md"
# Less than this share of a step is no finding: two runs of the same job differ by as much.
WORTH_SHARE = 0.03


@dataclass(frozen=True, slots=True, kw_only=True)
class _Weighed:
    rule: SpeedRule
    verdict: Verdict
    step_s: float | None
    missing: tuple[str, ...]


def evaluate(rules: Sequence[SpeedRule], facts: Facts) -> SpeedDiagnosis:
    """Find out what costs a run time.

    Args:
        rules: The rules to weigh; of equal savings the earlier rule stands first.
        facts: What is known, with ``catalogue.SPEED_FACTS`` as names; a missing fact leads to "not checked".
    """
    weighed = [one for rule in rules if (one := _weigh(rule, facts)) is not None]
    found = [one for one in weighed if one.verdict.holds and _is_worth_it(one, facts)]
    # What nobody priced may be nothing: it explains nothing away.
    explained = {kind for one in found if one.step_s is not None for kind in one.rule.explains}
    left = [one for one in found if one.rule.kind not in explained]
    left.sort(key=lambda one: -(one.step_s or 0.0))
    return SpeedDiagnosis(
        findings=tuple(_finding(one, facts) for one in left),
        fine=tuple(_fine(weighed, facts)),
        unchecked=tuple(_unchecked(weighed, facts)),
    )


def _weigh(rule: SpeedRule, facts: Facts) -> _Weighed | None:
    """Judge one rule; None where the question makes no sense."""
    situation = Situation(facts=facts, text=Text(()))
    applies = rule.applies.judge(situation) if rule.applies else Verdict(holds=True)
    if applies.holds is False:
        return None
    verdict = rule.when.judge(situation) if applies.holds else applies
    values = [facts.get(name) for name in rule.saving.names]
    missing = tuple(name for name, value in zip(rule.saving.names, values, strict=True) if value is None)
    step_s = None if missing or not verdict.holds else max(float(rule.saving.calculate(*values)), 0.0)
    whole_s = _whole_s(facts)
    if step_s is not None and whole_s is not None:
        step_s = min(step_s, whole_s)  # two timings that were disturbed may differ by more than there is
    return _Weighed(rule=rule, verdict=verdict, step_s=step_s, missing=missing)


def _is_worth_it(weighed: _Weighed, facts: Facts) -> bool:
    """Whether the saving is more than what two runs differ by; what has no price is shown all the same."""
    whole_s = _whole_s(facts)
    return weighed.step_s is None or whole_s is None or weighed.step_s >= WORTH_SHARE * whole_s


def _whole_s(facts: Facts) -> float | None:
    """Seconds of the training for each step: the step, and its part of what runs between epochs."""
    step_s, between_s = facts.get("step_s"), facts.get("callbacks_epoch_s")
    if not isinstance(step_s, int | float):
        return None
    whole_s = step_s + (between_s if isinstance(between_s, int | float) else 0.0)
    validation = [facts.get(name) for name in ("validation_s", "validation_freq", "steps_per_epoch")]
    match validation:
        case [int() | float() as seconds, int() as every, int() as steps] if steps:
            return whole_s + seconds / every / steps
        case _:
            return whole_s


def _finding(weighed: _Weighed, facts: Facts) -> SpeedFinding:
    rule, step_s = weighed.rule, weighed.step_s
    whole_s, run_steps = _whole_s(facts), facts.get("run_steps")
    how = filled(rule.saving.how, facts)
    if weighed.missing:
        how = f"not priced: {'; '.join(_reasons(weighed.missing, facts))}"
    return SpeedFinding(
        kind=rule.kind,
        title=filled(rule.title, facts),
        cause=rule.cause,
        evidence=_evidence(weighed, facts),
        saves_at_most_s=step_s * run_steps if step_s is not None and isinstance(run_steps, int) else None,
        saves_step_s=step_s,
        saves_share=step_s / whole_s
        if step_s is not None and isinstance(whole_s, float) and whole_s
        else None,
        how=how,
        remedy=_remedy(rule, facts),
        link=f"{MANUAL}#{rule.kind}",
    )


def _evidence(weighed: _Weighed, facts: Facts) -> tuple[str, ...]:
    """The facts that decided, with their units; a condition's own lines have plain numbers."""
    names = [line.partition(" = ")[0] for line in weighed.verdict.evidence]
    return tuple(f"{name} = {shown(name, facts.get(name))}" for name in names)


def _remedy(rule: SpeedRule, facts: Facts) -> Remedy:
    situation = Situation(facts=facts, text=Text(()))
    fits = (way for way in rule.ways if way.where is None or way.where.judge(situation).holds)
    way: Way = next(fits, rule.ways[-1])
    return Remedy(
        lines=tuple(typed(line, facts) for line in way.lines),
        patch={key: typed(value, facts) for key, value in way.patch.items()},
        changes_results=way.changes_results,
    )


def _fine(weighed: Sequence[_Weighed], facts: Facts) -> Iterator[dict[str, str]]:
    for one in weighed:
        if one.verdict.holds is False:
            yield {"kind": one.rule.kind, "what": filled(one.rule.clear, facts)}
        elif one.verdict.holds and not _is_worth_it(one, facts):
            title = filled(one.rule.title, facts).rstrip(".")
            saved = units.seconds(one.step_s or 0.0)
            yield {
                "kind": one.rule.kind,
                "what": f"{title}: {saved} of a step at most is too little to matter.",
            }


def _unchecked(weighed: Sequence[_Weighed], facts: Facts) -> Iterator[dict[str, str]]:
    for one in weighed:
        if one.verdict.holds is None:
            telling = _reasons(one.verdict.missing, facts)
            if telling:
                yield {"kind": one.rule.kind, "why": "; ".join(telling)}


def _reasons(missing: Sequence[str], facts: Facts) -> list[str]:
    """Why facts are missing, each reason once; what does not apply to this run is no reason to worry."""
    reasons = [facts.unknown.get(name, f"not known: {facts.catalogue[name]}") for name in missing]
    return list(dict.fromkeys(why for why in reasons if not why.startswith(DOES_NOT_APPLY)))
