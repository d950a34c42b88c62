"""A rule about speed is data: what costs time, how that is told, what it costs at most, and the way out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from steptime import units
from steptime.diagnosis.condition import Condition
from steptime.environment.facts import Facts, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Saving:
    """What a remedy can save at most, for each training step.

    Attributes:
        names: Facts that it is calculated from.
        calculate: Receives their values in this order, returns seconds per step.
        how: How it was derived; ``{name}`` stands for a fact with its unit.
    """

    names: tuple[str, ...]
    calculate: Callable[..., float]
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A way out.

    Attributes:
        lines: Code or commands to paste, or sentences that start with ``#``; ``{name}`` stands for a fact.
        patch: Settings to change; ``{name}`` stands for a fact. Empty when it is not ours to change.
        changes_results: Whether the trained weights may differ by more than rounding.
        where: Condition under which it is the way; ``None`` for always. The first that fits is shown.
    """

    lines: tuple[str, ...] = ()
    patch: Mapping[str, str] = field(default_factory=dict)
    changes_results: bool = False
    where: Condition | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedRule:
    """One thing that costs time.

    Attributes:
        kind: Its stable name, as in JSON, links and files.
        title: What is wrong, in one sentence; ``{name}`` stands for a fact.
        cause: Why it costs time, for people who meet it the first time.
        applies: Where the question makes sense at all; elsewhere the rule says nothing. ``None`` for everywhere.
        when: When it is there.
        saving: What it costs at most.
        ways: What to do; the first that fits is shown.
        explains: Kinds that are consequences of this one and are not reported beside it.
        clear: What to report as fine when it is known not to be there.
        source: Where the statement comes from, if it is not our own measurement.
        fires: Facts with which it must be the first finding.
        silent: Facts, close to these, with which it must not be found.
    """

    kind: str
    title: str
    cause: str
    when: Condition
    saving: Saving
    ways: tuple[Way, ...]
    clear: str
    applies: Condition | None = None
    explains: tuple[str, ...] = ()
    source: str = ""
    fires: tuple[Mapping[str, Value], ...] = field(default=(), repr=False)
    silent: tuple[Mapping[str, Value], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """A way out, with the numbers of the run in it.

    Attributes:
        lines: Code or commands to paste.
        patch: Settings to change, as text by key.
        changes_results: Whether the trained weights may differ by more than rounding.
    """

    lines: tuple[str, ...]
    patch: Mapping[str, str]
    changes_results: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedFinding:
    """One thing that was found to cost time.

    Attributes:
        kind: Kind of the rule.
        title: What is wrong.
        cause: Why it costs time.
        evidence: The facts it rests on.
        saves_at_most_s: Seconds of the whole planned run that the remedy can save at most; None when that was
            not measured.
        saves_step_s: The same per training step.
        saves_share: The same as a share of a step with its part of the validations.
        how: How that was derived, or why it could not be.
        remedy: What to do.
        link: Where the manual explains it.
    """

    kind: str
    title: str
    cause: str
    evidence: tuple[str, ...]
    saves_at_most_s: float | None
    saves_step_s: float | None
    saves_share: float | None
    how: str
    remedy: Remedy
    link: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedDiagnosis:
    """Everything the rules say about a run.

    Attributes:
        findings: What would save most stands first.
        fine: Kind and sentence of what was checked and is in order, or is worth too little.
        unchecked: Kind and reason of what could not be checked.
    """

    findings: tuple[SpeedFinding, ...]
    fine: tuple[Mapping[str, str], ...]
    unchecked: tuple[Mapping[str, str], ...]


def filled(text: str, facts: Facts) -> str:
    """Return the text with each ``{name}`` replaced by that fact, written with its unit; ``?`` if unknown."""
    return _replaced(text, facts, lambda name: shown(name, facts.get(name)))


def typed(text: str, facts: Facts) -> str:
    """Return the text with each ``{name}`` replaced by that fact as code and settings take it: 2048, not 2,048."""
    return _replaced(text, facts, lambda name: facts.text(name) or "?")


def _replaced(text: str, facts: Facts, written: Callable[[str], str]) -> str:
    for name in facts.catalogue:
        if f"{{{name}}}" in text:
            text = text.replace(f"{{{name}}}", written(name))
    return text


def shown(name: str, value: Value | None) -> str:
    """Return a fact's value as text for people; its unit is that in which the name ends."""
    if value is None:
        return "?"
    if isinstance(value, tuple):
        return ", ".join(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if name.endswith("_s"):
        return units.seconds(value)
    if name.endswith("_bytes"):
        return units.size_bytes(value)
    if name.endswith("_share"):
        return units.share(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"
