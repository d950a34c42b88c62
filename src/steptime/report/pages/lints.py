"""Findings about model and data: a few lines beside a training, or all of them as parts of a page or as JSON."""

from collections import Counter, defaultdict
from typing import Any

from steptime.diagnosis.model.rule import SEVERITIES, LintFinding, LintReport
from steptime.report.document import Part, Table, Text


def lines_of(finding: LintFinding) -> tuple[str, str]:
    """Return one finding as two lines: what was seen, and what to do."""
    more = f" (and {len(finding.evidence) - 1} more)" if len(finding.evidence) > 1 else ""
    return (
        f"{finding.severity}: {finding.title} Seen: {finding.evidence[0]}{more}. [{finding.kind}]",
        f"  fix: {finding.fix}",
    )


def finding_lines(report: LintReport, most: int = 3) -> tuple[str, ...]:
    """Return the most useful findings, two lines each, and how many there are beside them; none when all is well."""
    lines = [line for finding in report.findings[:most] for line in lines_of(finding)]
    left = report.findings[most:]
    if left:
        lines.append(f"and {_counted(left)} more")
    return tuple(lines)


def lint_parts(report: LintReport) -> tuple[Part, ...]:
    """Return all findings, and what was and was not checked."""
    parts: list[Part] = [_table(finding) for finding in report.findings]
    found = _counted(report.findings) if report.findings else "no finding"
    parts.append(Text(text=f"{found}; {len(report.clear)} kinds of mistake were looked for and not found"))
    kinds: dict[str, list[str]] = defaultdict(list)
    for kind, reason in report.unchecked.items():
        kinds[reason].append(kind)
    parts += [
        Text(text=f"not checked, since {reason}: {', '.join(names)}") for reason, names in kinds.items()
    ]
    return tuple(parts)


def lint_json(report: LintReport) -> dict[str, Any]:
    """Return everything as JSON data; ``findings`` holds the most useful first."""
    return {
        "findings": [
            {
                "kind": finding.kind, "severity": finding.severity, "title": finding.title,
                "evidence": list(finding.evidence), "consequence": finding.consequence, "fix": finding.fix,
                "confidence": finding.confidence, "link": finding.link,
            }
            for finding in report.findings
        ],
        "clear": list(report.clear),
        "unchecked": dict(report.unchecked),
    }  # fmt: skip


def _table(finding: LintFinding) -> Table:
    rows = [(finding.severity, finding.title)]
    rows += [("seen", evidence) for evidence in finding.evidence]
    rows += [
        ("meaning", finding.consequence),
        ("fix", finding.fix),
        ("more", f"{finding.link} ({finding.confidence} confidence)"),
    ]
    return Table(columns=("", ""), rows=tuple(rows))


def _counted(findings: tuple[LintFinding, ...]) -> str:
    counts = Counter(finding.severity for finding in findings)
    return ", ".join(
        f"{counts[severity]} {severity}{'s' if counts[severity] > 1 else ''}"
        for severity in SEVERITIES
        if counts[severity]
    )
