"""Weighing the rules about speed: order, worth, consequences, what is not known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.diagnosis.condition import Check, is_
from steptime.diagnosis.speed.catalogue import SPEED_FACTS
from steptime.diagnosis.speed.evaluate import WORTH_SHARE, evaluate
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way
from steptime.diagnosis.speed.rules import RULES
from steptime.environment.facts import Facts

SLOW = {
    "device": "cpu",
    "step_s": 0.020,
    "run_steps": 1000,
    "source": "dataset",
    "sequential_maps": 1,
    "python_maps": False,
    "ends_in_prefetch": False,
    "input_s": 0.010,
    "resident_step_s": 0.004,
    "cores_usable": 2.0,
    "slowest_callback": "SlowLogger",
    "slowest_callback_s": 0.006,
}


def facts(**changes) -> Facts:
    values = {name: value for name, value in (SLOW | changes).items() if value is not None}
    return Facts(values=values, catalogue=SPEED_FACTS)


def kinds(found: Facts) -> list[str]:
    return [finding.kind for finding in evaluate(RULES, found).findings]


def rule(kind: str, *, saves: str = "input_s", explains: tuple[str, ...] = ()) -> SpeedRule:
    return SpeedRule(
        kind=kind,
        title=f"{kind} costs {{{saves}}}.",
        cause="It does.",
        when=is_("device", "cpu"),
        saving=Saving(names=(saves,), calculate=lambda seconds: seconds, how=f"{{{saves}}}"),
        ways=(Way(lines=("# do less",)),),
        clear="It does not.",
        explains=explains,
    )


def test_what_saves_most_stands_first() -> None:
    found = evaluate(RULES, facts()).findings

    assert [finding.kind for finding in found] == ["map-sequential", "no-prefetch", "callback-share"]
    assert [finding.saves_share for finding in found] == pytest.approx([0.5, 0.5, 0.3])
    assert found[0].saves_at_most_s == pytest.approx(10.0)


def test_of_equal_savings_the_earlier_rule_stands_first() -> None:
    assert [f.kind for f in evaluate((rule("b"), rule("a")), facts()).findings] == ["b", "a"]


def test_a_consequence_is_not_reported_beside_its_cause() -> None:
    rules = (rule("cause", explains=("effect",)), rule("effect"))

    assert [finding.kind for finding in evaluate(rules, facts()).findings] == ["cause"]


def test_saving_the_model_does_not_hide_a_callback_that_costs_more() -> None:
    found = facts(checkpoint="ModelCheckpoint", checkpoint_s=0.001, input_s=0.0)

    assert kinds(found) == ["callback-share", "checkpoint-share"]


def test_a_cause_that_is_worth_nothing_explains_nothing() -> None:
    rules = (rule("cause", saves="host_s", explains=("effect",)), rule("effect"))

    diagnosis = evaluate(rules, facts(host_s=0.0001))

    assert [finding.kind for finding in diagnosis.findings] == ["effect"]
    assert diagnosis.fine == (
        {"kind": "cause", "what": "cause costs 100 µs: 100 µs of a step at most is too little to matter."},
    )


def test_what_is_worth_too_little_is_no_finding() -> None:
    assert kinds(facts(input_s=0.0012, slowest_callback_s=0.0)) == ["map-sequential", "no-prefetch"]
    assert kinds(facts(input_s=0.0005, slowest_callback_s=0.0)) == []


def test_a_missing_fact_is_not_checked_and_says_why() -> None:
    found = Facts(
        values={"device": "cpu"},
        unknown={"slowest_callback": "no callbacks were timed"},
        catalogue=SPEED_FACTS,
    )

    unchecked = {check["kind"]: check["why"] for check in evaluate(RULES, found).unchecked}

    assert "no callbacks were timed" in unchecked["callback-share"]
    assert "small-launches" not in unchecked  # there is no GPU to ask about


def test_a_fact_that_does_not_apply_is_no_reason_to_worry() -> None:
    found = Facts(
        values={"device": "cpu", "validation_freq": 1, "validation_freq_next": 5, "step_s": 0.01},
        unknown=dict.fromkeys(("validation_s", "train_epoch_s"), "does not apply: there is no validation"),
        catalogue=SPEED_FACTS,
    )

    assert "validation-share" not in {check["kind"] for check in evaluate(RULES, found).unchecked}


def test_a_finding_without_a_price_says_so_and_stands_last() -> None:
    rules = (rule("unpriced", saves="memory_s"), *RULES)
    found = evaluate(rules, facts(ends_in_prefetch=True)).findings

    assert [finding.kind for finding in found] == ["map-sequential", "callback-share", "unpriced"]
    assert found[-1].saves_step_s is None
    assert found[-1].saves_at_most_s is None
    assert found[-1].how.startswith("not priced: not known")


def test_an_unknown_number_of_steps_leaves_the_price_of_the_run_open() -> None:
    first = evaluate(RULES, facts(run_steps=None)).findings[0]

    assert first.saves_at_most_s is None
    assert first.saves_step_s == pytest.approx(0.010)


def test_the_evidence_is_the_facts_that_decided() -> None:
    first = evaluate(RULES, facts()).findings[0]

    assert first.evidence == ("sequential_maps = 1",)
    assert first.link == "docs/profile.md#map-sequential"


def test_a_rule_cannot_ask_for_a_fact_that_nobody_supplies() -> None:
    wrong = SpeedRule(
        kind="wrong", title="Wrong.", cause="It is.", when=Check("no_such_fact", test=bool),
        saving=Saving(names=(), calculate=lambda: 0.0, how=""), ways=(), clear="",
    )  # fmt: skip

    with pytest.raises(KeyError):
        evaluate((wrong,), facts())


@given(
    st.fixed_dictionaries(
        {
            name: st.floats(0.0, 1.0)
            for name in (
                "input_s",
                "host_s",
                "compute_s",
                "memory_s",
                "resident_step_s",
                "retrace_s",
            )
        },
        optional={
            "source": st.sampled_from(["arrays", "dataset", "generator", "pydataset"]),
            "sequential_maps": st.integers(0, 3),
            "eager": st.booleans(),
            "loop": st.sampled_from(["keras", "graph", "xla"]),
            "loop_asked": st.sampled_from(["auto", "keras"]),
            "retraces": st.integers(0, 9),
            "doubled_step_s": st.floats(0.0, 2.0),
            "batch_size": st.integers(1, 5000),
            "ends_in_prefetch": st.booleans(),
        },
    )
)
def test_no_finding_saves_more_than_the_step_or_less_than_is_worth_a_word(values) -> None:
    step_s = sum(values[name] for name in ("input_s", "host_s", "compute_s", "memory_s")) + 1e-6
    step_s = max(step_s, values["resident_step_s"], values["retrace_s"])
    found = evaluate(
        RULES, Facts(values={**values, "step_s": step_s, "device": "cpu"}, catalogue=SPEED_FACTS)
    ).findings
    savings = [finding.saves_step_s for finding in found if finding.saves_step_s is not None]

    assert savings == sorted(savings, reverse=True)
    assert all(WORTH_SHARE * step_s <= saved <= step_s * (1 + 1e-9) for saved in savings)


def test_a_share_is_of_steps_and_validations_together() -> None:
    whole = facts(
        validation_s=2.0, train_epoch_s=2.0, validation_freq=1, validation_freq_next=5, steps_per_epoch=100
    )
    shares = {finding.kind: finding.saves_share for finding in evaluate(RULES, whole).findings}

    assert shares["map-sequential"] == pytest.approx(0.010 / 0.040)
    assert shares["validation-share"] == pytest.approx(0.016 / 0.040)


def test_no_remedy_saves_more_than_there_is() -> None:
    (first,) = evaluate((rule("much", saves="host_s"),), facts(host_s=9.0)).findings

    assert first.saves_share == 1
