"""Each lint fires on its cases and is silent on their sound twins."""

from dataclasses import replace
from pathlib import Path

import pytest

import steptime.diagnosis.model as package
from steptime.diagnosis.model import lint as lint_all
from steptime.diagnosis.model.evaluate import evaluate
from steptime.diagnosis.model.lints import LINTS
from steptime.diagnosis.model.rule import SEVERITIES, Lint
from steptime.record.model_facts import FACTS, ModelFacts

NOT_LINTS = {"__init__", "rule", "evaluate", "lints", "pages"}
CASES = [(lint, case) for lint in LINTS for case in lint.fires]
TWINS = [(lint, case) for lint in LINTS for case in lint.silent]


def name(value):
    return value.kind if isinstance(value, Lint) else ""


def test_every_file_is_listed_once():
    files = {path.stem for path in Path(package.__file__).parent.glob("*.py")} - NOT_LINTS
    assert sorted(files) == sorted(lint.kind.replace("-", "_") for lint in LINTS)


@pytest.mark.parametrize("lint", LINTS, ids=name)
def test_a_lint_is_complete(lint):
    assert lint.title.endswith(".")
    assert lint.consequence.endswith(".")
    assert lint.severity in SEVERITIES
    assert "\n" not in lint.fix
    assert lint.needs
    assert set(lint.needs) <= set(FACTS)
    assert lint.fires
    assert lint.silent


@pytest.mark.parametrize(("lint", "case"), CASES, ids=name)
def test_a_lint_fires_on_its_case_with_evidence(lint, case):
    (finding,) = evaluate([lint], ModelFacts(values=case.facts)).findings
    assert finding.severity == (case.severity or lint.severity)
    assert all(finding.evidence)
    assert finding.confidence in ("high", "medium", "low")
    assert finding.link == f"docs/lints.md#{lint.kind}"


@pytest.mark.parametrize(("lint", "case"), TWINS, ids=name)
def test_a_lint_is_silent_on_the_sound_twin(lint, case):
    assert evaluate([lint], ModelFacts(values=case.facts)).findings == ()


@pytest.mark.parametrize("lint", LINTS, ids=name)
def test_a_missing_fact_means_not_checked(lint):
    for fact in lint.needs:
        values = {key: value for key, value in lint.fires[0].facts.items() if key != fact}
        report = evaluate([lint], ModelFacts(values=values, unknown={fact: "the reason"}))
        assert report.findings == report.clear == ()
        assert report.unchecked == {lint.kind: "the reason"}


def test_where_a_lint_does_not_apply_nothing_is_said():
    facts = ModelFacts(unknown={"split": "does not apply: there is no validation_split"})
    report = lint_all(facts)
    assert "split-of-sorted-data" not in {*report.clear, *report.unchecked}


def test_nothing_known_is_nothing_found_and_nothing_clear():
    report = lint_all(ModelFacts())
    assert report.findings == report.clear == ()
    assert len(report.unchecked) == len(LINTS)


def test_facts_that_cannot_be_calculated_with_are_not_checked():
    broken = replace(LINTS[0], find=lambda *_: [1 / 0])
    report = evaluate([broken], ModelFacts(values=dict.fromkeys(broken.needs, 7)))
    assert set(report.unchecked) == {broken.kind}


def test_facts_of_another_form_are_not_checked():
    for lint in LINTS:
        broken = dict.fromkeys(lint.needs, 7)
        report = evaluate([lint], ModelFacts(values=broken))
        assert report.findings == ()


def test_errors_come_before_warnings_and_hints():
    values = {}
    for lint in LINTS:
        values = {**lint.fires[0].facts, **values}
    found = [
        SEVERITIES.index(finding.severity)
        for finding in evaluate(_runnable(values), ModelFacts(values=values)).findings
    ]
    assert len(set(found)) >= 2
    assert found == sorted(found)


def _runnable(values):
    """The lints whose own first case stands in the mixture unchanged."""
    return [lint for lint in LINTS if all(values[key] == fact for key, fact in lint.fires[0].facts.items())]
