"""Conditions that rules are made of: true, false, or unknown because a fact is missing."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from steptime.diagnosis.text import Text
from steptime.environment.facts import Facts, Value
from steptime.environment.versions import compare


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What a rule may look at: the facts, and the text of the log without noise."""

    facts: Facts
    text: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Answer of one condition.

    Attributes:
        holds: ``None`` when a fact is missing, so that neither can be said.
        evidence: The very lines and facts that the answer rests on.
        missing: Names of the facts that would be needed.
        row: Line of the log where the evidence stands first, or ``None``.
    """

    holds: bool | None
    evidence: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    row: int | None = None


class Condition(Protocol):
    """Something that holds, does not hold, or can't be said."""

    def judge(self, situation: Situation) -> Verdict:
        """Return whether the condition holds in this situation, and why."""
        ...


class Says:
    """Holds when the log or a stated sentence matches one of some signs (see ``text.compile_sign``)."""

    def __init__(self, *patterns: str) -> None:
        self.patterns = patterns

    def judge(self, situation: Situation) -> Verdict:
        """Search the text; an absent line proves nothing, so it is false only in the sense of "not said"."""
        spans = [span for pattern in self.patterns if (span := situation.text.find(pattern)) is not None]
        if not spans:
            return Verdict(holds=False)
        return Verdict(holds=True, evidence=(situation.text.quote(min(spans)),), row=min(spans)[0])


class Check:
    """Holds when a test of some facts is true; unknown when one of them is missing.

    Args:
        names: Names of the facts.
        test: Receives their values in this order. ``None`` from it means "can't be said".
    """

    def __init__(self, *names: str, test: Callable[..., bool | None]) -> None:
        self.names = names
        self.test = test

    def judge(self, situation: Situation) -> Verdict:
        """Apply the test."""
        facts = situation.facts
        values = [facts.get(name) for name in self.names]
        missing = tuple(name for name, value in zip(self.names, values, strict=True) if value is None)
        if missing:
            return Verdict(holds=None, missing=missing)
        holds = self.test(*values)
        shown = tuple(
            f"{name} = {facts.text(name)} ({facts.origins.get(name, 'known')})" for name in self.names
        )
        return Verdict(
            holds=holds,
            evidence=shown if holds is not None else (),
            missing=() if holds is not None else self.names,
        )


def is_(name: str, *values: Value) -> Check:
    """Condition: the fact is one of these values."""
    return Check(name, test=lambda value: value in values)


def below(name: str, version: str) -> Check:
    """Condition: the fact, a version, is older than this one."""
    return Check(name, test=lambda value: compare(str(value), version) < 0 if _versioned(value) else None)


def at_least(name: str, version: str) -> Check:
    """Condition: the fact, a version, is this one or newer."""
    return Check(name, test=lambda value: compare(str(value), version) >= 0 if _versioned(value) else None)


def more(name: str, limit: float) -> Check:
    """Condition: the fact, a number, is greater than a limit."""
    return Check(name, test=lambda value: float(value) > limit)


def less(name: str, limit: float) -> Check:
    """Condition: the fact, a number, is smaller than a limit."""
    return Check(name, test=lambda value: float(value) < limit)


def _versioned(value: object) -> bool:
    return str(value)[:1].isdigit()


class All:
    """Holds when all conditions hold; one that does not hold decides even if others are unknown."""

    def __init__(self, *parts: Condition) -> None:
        self.parts = parts

    def judge(self, situation: Situation) -> Verdict:
        """Judge the parts together."""
        verdicts = [part.judge(situation) for part in self.parts]
        if any(v.holds is False for v in verdicts):
            return _join([v for v in verdicts if v.holds is False], holds=False)
        unknown = [v for v in verdicts if v.holds is None]
        return _join(unknown, holds=None) if unknown else _join(verdicts, holds=True)


class Any:
    """Holds when one of some conditions holds."""

    def __init__(self, *parts: Condition) -> None:
        self.parts = parts

    def judge(self, situation: Situation) -> Verdict:
        """Judge the parts together."""
        verdicts = [part.judge(situation) for part in self.parts]
        held = [v for v in verdicts if v.holds is True]
        if held:
            return _join(held, holds=True)
        unknown = [v for v in verdicts if v.holds is None]
        return _join(unknown, holds=None) if unknown else _join(verdicts, holds=False)


class Not:
    """Holds when a condition is known not to hold."""

    def __init__(self, part: Condition) -> None:
        self.part = part

    def judge(self, situation: Situation) -> Verdict:
        """Turn the part's answer round."""
        verdict = self.part.judge(situation)
        if verdict.holds is None:
            return verdict
        return Verdict(holds=not verdict.holds, evidence=verdict.evidence, row=verdict.row)


class Unknown:
    """Holds when a fact is not known."""

    def __init__(self, name: str) -> None:
        self.name = name

    def judge(self, situation: Situation) -> Verdict:
        """Ask whether the fact is absent."""
        return Verdict(holds=situation.facts.get(self.name) is None)


def _join(verdicts: list[Verdict], *, holds: bool | None) -> Verdict:
    rows = [v.row for v in verdicts if v.row is not None]
    return Verdict(
        holds=holds,
        evidence=tuple(dict.fromkeys(line for v in verdicts for line in v.evidence)),
        missing=tuple(dict.fromkeys(name for v in verdicts for name in v.missing)),
        row=min(rows) if rows else None,
    )
