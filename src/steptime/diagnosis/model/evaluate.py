"""Applies lints to facts."""

from collections.abc import Sequence

from steptime.diagnosis.model.rule import MANUAL, SEVERITIES, Found, Lint, LintFinding, LintReport, Unknown
from steptime.record.model_facts import DOES_NOT_APPLY, ModelFacts


def evaluate(lints: Sequence[Lint], facts: ModelFacts) -> LintReport:
    """Return what the lints find; errors first, then as the lints are listed.

    Args:
        lints: The most useful first.
        facts: A fact that is absent leads to "unchecked", never to "clear"; where it does not apply, to neither.
    """
    findings: list[LintFinding] = []
    clear: list[str] = []
    unchecked: dict[str, str] = {}
    for lint in lints:
        missing = [name for name in lint.needs if facts.values.get(name) is None]
        if missing:
            reasons = [facts.unknown.get(name, f"{name} was not read") for name in missing]
            if not any(reason.startswith(DOES_NOT_APPLY) for reason in reasons):
                unchecked[lint.kind] = "; ".join(dict.fromkeys(reasons))
            continue
        try:
            answers = list(lint.find(*(facts.values[name] for name in lint.needs)))
        except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError):
            # A file of another version, or one that was changed: a page must show its other findings all the same.
            unchecked[lint.kind] = "its facts do not have the form that this version writes"
            continue
        found = [answer for answer in answers if isinstance(answer, Found)]
        if found:
            findings.append(_finding(lint, found))
        elif answers:
            doubts = (answer.reason for answer in answers if isinstance(answer, Unknown))
            unchecked[lint.kind] = "; ".join(dict.fromkeys(doubts))
        else:
            clear.append(lint.kind)
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return LintReport(findings=tuple(findings), clear=tuple(clear), unchecked=unchecked)


def _finding(lint: Lint, found: list[Found]) -> LintFinding:
    """Join the places into one finding; the gravest says what it means and what to do."""
    worst = min(found, key=lambda place: SEVERITIES.index(place.severity or lint.severity))
    return LintFinding(
        kind=lint.kind,
        title=lint.title,
        severity=worst.severity or lint.severity,
        evidence=tuple(dict.fromkeys(place.evidence for place in found)),
        consequence=worst.consequence or lint.consequence,
        fix=worst.fix or lint.fix,
        confidence=worst.confidence,
        link=f"{MANUAL}#{lint.kind}",
    )
