"""Every rule about speed: complete, listed, first in its own cases, silent in those close to it."""

import re
from pathlib import Path

import pytest

import steptime.diagnosis.speed as package
from steptime.diagnosis.condition import All, Any, Check, Condition, Not
from steptime.diagnosis.speed.catalogue import SPEED_FACTS
from steptime.diagnosis.speed.evaluate import evaluate
from steptime.diagnosis.speed.rule import SpeedRule
from steptime.diagnosis.speed.rules import RULES
from steptime.environment.facts import Facts
from steptime.plan.settings import Settings, change

NOT_RULES = {
    "__init__",
    "rules",
    "rule",
    "evaluate",
    "catalogue",
    "facts",
    "facts_of_model",
    "facts_of_pipeline",
    "manual",
    "trial",
}
KINDS = [rule.kind for rule in RULES]


def leaves(condition: Condition) -> list[Check]:
    if isinstance(condition, All | Any):
        return [leaf for part in condition.parts for leaf in leaves(part)]
    if isinstance(condition, Not):
        return leaves(condition.part)
    assert isinstance(condition, Check)
    return [condition]


def speed_facts(values) -> Facts:
    return Facts(values={"run_steps": 1000, **values}, catalogue=SPEED_FACTS)


def texts(rule: SpeedRule) -> str:
    ways = " ".join(" ".join([*way.lines, *way.patch.values()]) for way in rule.ways)
    return f"{rule.title} {rule.saving.how} {ways} {rule.clear}"


def test_every_file_is_listed_once() -> None:
    files = {path.stem for path in Path(package.__file__).parent.glob("*.py")} - NOT_RULES

    assert sorted(files) == sorted(kind.replace("-", "_") for kind in KINDS)


@pytest.mark.parametrize("rule", RULES, ids=KINDS)
def test_a_rule_is_complete_and_asks_only_for_facts_that_there_are(rule: SpeedRule) -> None:
    conditions = [rule.when, rule.applies, *(way.where for way in rule.ways)]
    names = {
        name
        for condition in conditions
        if condition is not None
        for leaf in leaves(condition)
        for name in leaf.names
    }

    assert rule.title.endswith(".")
    assert rule.cause.endswith(".")
    assert rule.clear.endswith(".")
    assert rule.fires
    assert rule.silent
    assert all(way.lines or way.patch for way in rule.ways)
    assert rule.ways[-1].where is None or len(rule.ways) > 1
    assert set(rule.explains) <= set(KINDS) - {rule.kind}
    assert names | set(rule.saving.names) <= set(SPEED_FACTS)
    assert set(re.findall(r"\{(\w+)\}", texts(rule))) <= set(SPEED_FACTS)


@pytest.mark.parametrize("rule", RULES, ids=KINDS)
def test_a_rule_is_first_in_its_own_cases_with_a_price(rule: SpeedRule) -> None:
    for case in rule.fires:
        first = evaluate(RULES, speed_facts(case)).findings[0]

        assert first.kind == rule.kind, case
        assert first.saves_step_s is not None
        assert 0 < first.saves_step_s <= case["step_s"]
        assert first.saves_at_most_s == pytest.approx(first.saves_step_s * 1000)
        assert "?" not in first.title + first.how
        assert first.evidence


@pytest.mark.parametrize("rule", RULES, ids=KINDS)
def test_a_rule_is_silent_close_to_its_cases(rule: SpeedRule) -> None:
    for case in rule.silent:
        found = {finding.kind for finding in evaluate(RULES, speed_facts(case)).findings}

        assert rule.kind not in found, case


@pytest.mark.parametrize("rule", RULES, ids=KINDS)
def test_every_patch_is_one_that_settings_take(rule: SpeedRule) -> None:
    known = {"batch_size_next": 2048, "threads_next": 1, "half_precision": "mixed_bfloat16"}
    for case in rule.fires:
        for finding in evaluate(RULES, speed_facts({**known, **case})).findings:
            if finding.kind == rule.kind:
                change(Settings(), finding.remedy.patch, "a rule")
                assert "2,048" not in " ".join(finding.remedy.lines)


XLA_ON_GPU = {"device": "gpu", "xla": False, "host_s": 0.005, "memory_s": 0.0, "step_s": 0.01}
CHAIN = {"xla": False, "elementwise_ops": 40, "elementwise_s": 0.008, "step_s": 0.01}
SMALL_BATCH = {"resident_step_s": 0.001, "doubled_step_s": 0.00105, "batch_size": 2, "step_s": 0.0011}


@pytest.mark.parametrize(
    ("kind", "case", "source", "compiled_by", "patch"),
    [
        ("elementwise-chain", CHAIN, "arrays", "workload", {"loop": "xla"}),
        ("elementwise-chain", CHAIN, "dataset", "settings", {"xla": "on"}),
        ("elementwise-chain", CHAIN, "dataset", "workload", {}),
        ("xla-off", {**XLA_ON_GPU, "layers_without_xla": ()}, "dataset", "settings", {"xla": "on"}),
        ("xla-off", {**XLA_ON_GPU, "layers_without_xla": ()}, "arrays", "workload", {"loop": "xla"}),
        ("xla-off", {**XLA_ON_GPU, "layers_without_xla": ()}, "generator", "workload", {}),
        ("small-launches", {**XLA_ON_GPU, "launches": 900, "launch_s": 5e-6}, "arrays", "workload", {"loop": "xla"}),
        ("small-launches", {**XLA_ON_GPU, "launches": 900, "launch_s": 5e-6}, "dataset", "workload", {}),
        ("batch-below-saturation", SMALL_BATCH, "arrays", "settings", {"batch_size": "2048"}),
        ("batch-below-saturation", SMALL_BATCH, "dataset", "settings", {}),
    ],
)  # fmt: skip
def test_a_setting_is_a_remedy_only_where_it_has_an_effect(kind, case, source, compiled_by, patch) -> None:
    known = {"source": source, "compiled_by": compiled_by, "loop_asked": "graph", "batch_size_next": 2048}
    findings = evaluate(RULES, speed_facts({**known, **case})).findings
    (remedy,) = (finding.remedy for finding in findings if finding.kind == kind)

    assert remedy.patch == patch
    assert patch or remedy.lines


@pytest.mark.parametrize("rule", RULES, ids=KINDS)
def test_without_facts_no_rule_says_anything(rule: SpeedRule) -> None:
    diagnosis = evaluate((rule,), Facts(catalogue=SPEED_FACTS))

    assert diagnosis.findings == ()
    assert diagnosis.fine == ()
    assert [line["kind"] for line in diagnosis.unchecked] == [rule.kind]


def test_every_fact_of_the_catalogue_is_asked_for() -> None:
    asked = {"step_s", "run_steps", "callbacks_epoch_s"}  # by every rule: see evaluate
    for rule in RULES:
        conditions = [rule.when, rule.applies, *(way.where for way in rule.ways)]
        leaves_of = [leaf for condition in conditions if condition is not None for leaf in leaves(condition)]
        asked |= {name for leaf in leaves_of for name in leaf.names} | set(rule.saving.names)
        asked |= set(re.findall(r"\{(\w+)\}", texts(rule)))

    assert asked == set(SPEED_FACTS)
