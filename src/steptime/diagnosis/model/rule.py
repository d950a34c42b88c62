"""A lint is data: it names one mistake in model, compile or data, asks for facts by name, and carries its cases.

The doctor's rules weigh uncertain signs of a log. A lint computes from facts that were read from the objects
themselves, so it needs no weights: it holds, it does not hold, or a fact is missing.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

SEVERITIES = ("error", "warning", "hint")
"""error: the result is wrong; warning: likely wrong, or much slower; hint: works, could be better."""
MANUAL = "docs/lints.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One place where the mistake was found.

    Attributes:
        evidence: What was seen, in numbers.
        severity: In place of the lint's own.
        consequence: In place of the lint's own.
        fix: In place of the lint's own.
        confidence: high (read from the objects), medium (read from a sample, or it depends), low.
    """

    evidence: str
    severity: str | None = None
    consequence: str | None = None
    fix: str | None = None
    confidence: str = "high"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """One place that could not be looked at, and why."""

    reason: str


Find = Callable[..., Iterable[Found | Unknown]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Facts that the lint is tested with.

    Attributes:
        facts: The facts it asks for.
        severity: The severity expected where it fires; empty for the lint's own.
    """

    facts: Mapping[str, Any]
    severity: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lint:
    """One kind of mistake.

    Attributes:
        kind: Its name, as in links and files.
        title: What is wrong, in one sentence.
        severity: One of ``SEVERITIES``.
        consequence: What it does to the training.
        fix: A line of code that repairs it.
        needs: Names of the facts that ``find`` is given, in this order.
        find: Says where the mistake is.
        fires: Cases in which it must be found.
        silent: Cases, close to them, in which it must not be found.
    """

    kind: str
    title: str
    severity: str
    consequence: str
    fix: str
    needs: tuple[str, ...]
    find: Find
    fires: tuple[Case, ...] = field(repr=False)
    silent: tuple[Case, ...] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class LintFinding:
    """One mistake that was found.

    Attributes:
        kind: Kind of the lint.
        title: What is wrong.
        severity: error, warning or hint.
        evidence: What was seen, in numbers; one entry for each place.
        consequence: What it does to the training.
        fix: A line of code that repairs it.
        confidence: high, medium or low.
        link: Where the manual explains it.
    """

    kind: str
    title: str
    severity: str
    evidence: tuple[str, ...]
    consequence: str
    fix: str
    confidence: str
    link: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LintReport:
    """Everything that the lints say about one fit.

    Attributes:
        findings: The most useful first.
        clear: Kinds that were checked and not found.
        unchecked: Kind to the reason why it could not be checked.
    """

    findings: tuple[LintFinding, ...]
    clear: tuple[str, ...]
    unchecked: Mapping[str, str]
