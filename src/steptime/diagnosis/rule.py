"""A rule is data: it names one kind of fault, says how it is told from others, and carries its own cases."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from steptime.diagnosis.condition import Condition

FIRES = 2.0
"""Weight from which a rule's clues suffice."""


@dataclass(frozen=True, slots=True)
class Clue:
    """One piece of evidence.

    Attributes:
        weight: 3 decides, 2 suffices (but other kinds may show it too), 1 supports, below 0 speaks against.
        condition: When it counts.
    """

    weight: float
    condition: Condition


@dataclass(frozen=True, slots=True)
class Remedy:
    """What to do where a condition holds; the first remedy of a rule that fits is the one shown.

    Attributes:
        steps: Lines to paste, or sentences where no command can do it (these start with ``#``).
        where: Condition of the place, or ``None`` for any place.
    """

    steps: tuple[str, ...]
    where: Condition | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A situation that the rule is tested with: a log, statements, or both."""

    log: str = ""
    stated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One kind of fault.

    Attributes:
        kind: Its name, as in links and files.
        title: What is wrong, in plain words and one sentence.
        cause: Why it happens.
        remedies: What to do, first match wins.
        verify: Command that shows that it is repaired.
        clues: What speaks for it.
        commonness: 0 (rare) to 3 (very common); decides between kinds that the evidence does not separate.
        unless: Conditions under which this kind is impossible or another explanation is certain.
        decide: Question or command that separates it from kinds with the same signs.
        consequences: Kinds whose signs this fault brings about; they are not reported beside it.
        clear: What to report as fine, and when; ``None`` for kinds that only a log can show.
        harmless: The lines are harmless: they are named as such and taken away before other rules look.
        slow: The GPU works, but slower than it could.
        fires: Cases in which it must be the first finding (or be named harmless).
        silent: Cases, close to it, in which it must not be found.
    """

    kind: str
    title: str
    cause: str
    remedies: tuple[Remedy, ...]
    verify: str
    clues: tuple[Clue, ...]
    commonness: int
    unless: tuple[Condition, ...] = ()
    decide: str = ""
    consequences: tuple[str, ...] = ()
    clear: tuple[str, Condition] | None = None
    harmless: bool = False
    slow: bool = False
    fires: tuple[Case, ...] = field(default=(), repr=False)
    silent: tuple[Case, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One fault that was found.

    Attributes:
        kind: Kind of the rule.
        title: What is wrong.
        evidence: The very lines and facts.
        cause: Why it happens.
        fix: Lines to paste on this platform.
        verify: How to see that it worked.
        confidence: high, medium or low.
        link: Where the manual explains it.
        score: Weight of the evidence; higher is surer.
        slow: The machine can be used, only slower than it could be.
    """

    kind: str
    title: str
    evidence: tuple[str, ...]
    cause: str
    fix: tuple[str, ...]
    verify: str
    confidence: str
    link: str
    score: float
    slow: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Everything that ``evaluate`` says about a situation.

    Attributes:
        findings: Best first.
        tied: Kinds that this input can't tell apart, the primary one first; empty when there is no tie.
        decide: Question or command, for each tied kind, that would decide.
        harmless: Line, kind and reason of lines that look like faults and are none.
        fine: Kind and sentence of what was checked and is in order.
        unchecked: Kind and reason of what could not be checked.
    """

    findings: tuple[Finding, ...]
    tied: tuple[str, ...]
    decide: Mapping[str, str]
    harmless: tuple[Mapping[str, str], ...]
    fine: tuple[Mapping[str, str], ...]
    unchecked: tuple[Mapping[str, str], ...]
