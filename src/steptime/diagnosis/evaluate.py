"""Weighs all rules in one situation: noise away first, facts before lines, causes before their consequences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from steptime.diagnosis.condition import Says, Situation
from steptime.diagnosis.rule import FIRES, Diagnosis, Finding, Rule
from steptime.diagnosis.text import Text
from steptime.environment.facts import DOES_NOT_APPLY, Facts

_TIE = 0.75
"""Two kinds nearer than this in weight, with a common line or no line at all, are a tie."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Weighed:
    rule: Rule
    score: float
    evidence: tuple[str, ...]
    missing: tuple[str, ...]
    row: int | None
    impossible: bool

    @property
    def fired(self) -> bool:
        return self.score >= FIRES and not self.impossible

    @property
    def rank(self) -> float:
        return self.score + 0.2 * self.rule.commonness


def evaluate(
    rules: Sequence[Rule], facts: Facts, lines: Sequence[str] = (), *, manual: str = "docs/doctor.md"
) -> Diagnosis:
    """Find out which rules hold.

    Args:
        rules: The rules to weigh.
        facts: What is known; a missing fact leads to "unchecked", never to "fine".
        lines: Clean lines of a log.
        manual: File that the findings' links point into.
    """
    text = Text((*lines, *facts.texts))
    text, harmless, doubtful = _take_noise_away(rules, facts, text)
    situation = Situation(facts=facts, text=text)
    weighed = [_weigh(rule, situation) for rule in rules if not rule.harmless]
    fired = sorted((w for w in weighed if w.fired), key=lambda w: (w.rule.slow, -_rank(w, weighed)))
    explained = {kind for w in fired for kind in w.rule.consequences if _explains(w, kind, fired)}
    left = [w for w in fired if w.rule.kind not in explained]
    tied = _tied(left, doubtful)
    findings = tuple(_finding(w, situation, tied, manual) for w in left)
    return Diagnosis(
        findings=findings,
        tied=tuple(w.rule.kind for w in tied),
        decide={w.rule.kind: w.rule.decide for w in tied},
        harmless=harmless,
        fine=tuple(_fine(weighed, situation)),
        unchecked=tuple(_unchecked(weighed, situation)),
    )


def _take_noise_away(
    rules: Sequence[Rule], facts: Facts, text: Text
) -> tuple[Text, tuple[dict[str, str], ...], tuple[_Weighed, ...]]:
    """Return the text without harmless lines, these lines, and kinds that would be harmless if a fact were known."""
    rows: set[int] = set()
    named: list[dict[str, str]] = []
    doubtful: list[_Weighed] = []
    for rule in rules:
        if not rule.harmless:
            continue
        weighed = _weigh(rule, Situation(facts=facts, text=text))
        if not weighed.fired:
            doubtful += [weighed] if weighed.score > 0 and weighed.missing and rule.decide else []
            continue
        spans = [span for pattern in _signs(rule) for span in text.covered(pattern)]
        if not spans:  # the facts alone fit: no line of the log needs an explanation
            continue
        rows |= {row for first, last in spans for row in range(first, last + 1)}
        named.append({"kind": rule.kind, "evidence": text.quote(min(spans)), "why": rule.cause})
    return text.without(rows), tuple(named), tuple(doubtful)


def _signs(rule: Rule) -> tuple[str, ...]:
    """The signs of a harmless rule's own lines: those of clues that are nothing but a sign."""
    return tuple(
        pattern
        for clue in rule.clues
        if isinstance(clue.condition, Says)
        for pattern in clue.condition.patterns
    )


def _weigh(rule: Rule, situation: Situation) -> _Weighed:
    strongest = support = 0.0
    evidence: list[str] = []
    missing: list[str] = []
    rows: list[int] = []
    for clue in rule.clues:
        verdict = clue.condition.judge(situation)
        missing += verdict.missing
        if not verdict.holds:
            continue
        if clue.weight >= FIRES:  # two signs of the same trouble are not twice as sure
            strongest = max(strongest, clue.weight)
        else:
            support += clue.weight
        if clue.weight > 0:
            evidence += verdict.evidence
            rows += [] if verdict.row is None else [verdict.row]
    score = strongest + support
    impossible = any(condition.judge(situation).holds for condition in rule.unless)
    return _Weighed(
        rule=rule, score=score, evidence=tuple(dict.fromkeys(evidence)), missing=tuple(dict.fromkeys(missing)),
        row=min(rows) if rows else None, impossible=impossible,
    )  # fmt: skip


def _rank(weighed: _Weighed, everything: Sequence[_Weighed]) -> float:
    """Weight plus commonness, and a little for the kind whose line stands first: later errors often follow from it."""
    rows = [w.row for w in everything if w.fired and w.row is not None]
    first = weighed.row is not None and weighed.row == min(rows)
    return weighed.rank + (0.3 if first and len(set(rows)) > 1 else 0.0)


def _explains(cause: _Weighed, kind: str, fired: Sequence[_Weighed]) -> bool:
    """A consequence goes if the cause has evidence of its own, and that is not much weaker."""
    consequence = next((w for w in fired if w.rule.kind == kind), None)
    if consequence is None:
        return False
    own = set(cause.evidence) - set(consequence.evidence)
    return consequence.score <= cause.score + 1 and (bool(own) or cause.score - consequence.score >= _TIE)


def _tied(left: Sequence[_Weighed], doubtful: Sequence[_Weighed]) -> tuple[_Weighed, ...]:
    """The kinds whose evidence does not separate them from the first: nearly as heavy, and partly the same lines."""
    if not left or left[0].rule.slow:
        return ()
    best = left[0]
    equals = [
        w for w in left[1:] if abs(best.score - w.score) < _TIE and set(best.evidence) & set(w.evidence)
    ]
    equals += [w for w in doubtful if best.score < 3 and set(best.evidence) & set(w.evidence)]
    return (best, *equals) if equals else ()


def _finding(weighed: _Weighed, situation: Situation, tied: Sequence[_Weighed], manual: str) -> Finding:
    rule = weighed.rule
    fits = (remedy for remedy in rule.remedies if remedy.where is None or remedy.where.judge(situation).holds)
    remedy = next(fits, rule.remedies[-1])
    confidence = "low" if weighed in tied else "high" if weighed.score >= 3 else "medium"
    return Finding(
        kind=rule.kind, title=rule.title, evidence=weighed.evidence, cause=rule.cause, fix=remedy.steps,
        verify=rule.verify,
        confidence=confidence, link=f"{manual}#{rule.kind}", score=round(weighed.score, 2), slow=rule.slow,
    )  # fmt: skip


def _fine(weighed: Sequence[_Weighed], situation: Situation) -> Iterator[dict[str, str]]:
    for w in weighed:
        if w.rule.clear and not w.fired and w.rule.clear[1].judge(situation).holds:
            yield {"kind": w.rule.kind, "what": w.rule.clear[0]}


def _unchecked(weighed: Sequence[_Weighed], situation: Situation) -> Iterator[dict[str, str]]:
    """Kinds that neither fired nor were cleared because facts are missing, with the reasons for these."""
    facts = situation.facts
    for w in weighed:
        if (
            w.fired
            or w.impossible
            or not w.missing
            or (w.rule.clear and w.rule.clear[1].judge(situation).holds)
        ):
            continue
        reasons = {name: facts.unknown.get(name, f"{name} is not known") for name in w.missing}
        telling = [why for why in reasons.values() if not why.startswith(DOES_NOT_APPLY)]
        if telling:
            yield {"kind": w.rule.kind, "why": "; ".join(dict.fromkeys(telling))}
