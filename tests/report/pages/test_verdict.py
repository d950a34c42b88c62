"""Verdicts in words."""

import dataclasses

from steptime.analysis.quality import TrainingQuality
from steptime.analysis.training import TrainingCheck
from steptime.report.pages.verdict import cautions, headline, number, other_sentences, short_verdict


def worse(compared):
    check = TrainingCheck(
        quality="worse",
        difference=-0.2,
        reach=0.01,
        is_assumed=False,
        reason="trained worse: 0.78 against 0.98",
    )
    quality = TrainingQuality(kind="worse", checks={"val_accuracy": check})
    facts = dataclasses.replace(compared.comparison.arms[1], training=quality)
    return dataclasses.replace(compared.comparison, arms=(compared.comparison.arms[0], facts))


def undecided(compared):
    facts = compared.comparison.arms[1]
    assert facts.verdict is not None
    verdict = dataclasses.replace(
        facts.verdict, kind="cannot tell", reasons=("too few runs", "the machine was busy")
    )
    return dataclasses.replace(
        compared.comparison, arms=(compared.comparison.arms[0], dataclasses.replace(facts, verdict=verdict))
    )


def test_an_arm_that_trained_worse_is_marked_in_the_verdict_itself(compared) -> None:
    comparison = worse(compared)

    assert "but it trained worse: 0.78 against 0.98, in val_accuracy." in headline(comparison)
    assert short_verdict(comparison.arms[1]) == "faster, but trained worse"


def test_what_cannot_be_told_gives_one_reason_in_the_headline_and_all_below(compared) -> None:
    comparison = undecided(compared)

    assert headline(comparison) == "Whether cpu is faster than cpu loop=keras cannot be told: too few runs."
    assert other_sentences(comparison) == (
        "Whether cpu is faster than cpu loop=keras cannot be told: too few runs; the machine was busy.",
    )
    assert short_verdict(comparison.arms[1]) == "cannot tell"


def test_the_headline_is_about_the_fastest_arm_that_trained_no_worse(compared) -> None:
    bad = worse(compared).arms[1]
    good = dataclasses.replace(compared.comparison.arms[1], arm=dataclasses.replace(bad.arm, name="honest"))
    comparison = dataclasses.replace(compared.comparison, arms=(compared.comparison.arms[0], bad, good))

    assert headline(comparison).startswith("honest is 1.8")


def test_without_any_result_the_reasons_are_the_headline(compared) -> None:
    failed = compared.comparison.arms[2]
    comparison = dataclasses.replace(compared.comparison, arms=(failed,))

    assert headline(comparison) == (
        "There is nothing to compare: cpu batch_size=60000: it failed in phase train: out of memory: 2 GiB wanted."
    )


def test_a_run_that_failed_beside_others_that_did_not_is_a_caution(compared) -> None:
    facts = dataclasses.replace(compared.comparison.arms[1], failure="failed in phase train: it fell over")
    comparison = dataclasses.replace(compared.comparison, arms=(compared.comparison.arms[0], facts))

    assert "cpu: 2 runs ended well, another did not (failed in phase train: it fell over)" in cautions(
        comparison
    )


def test_a_target_that_is_no_metric_of_the_history_is_a_caution(compared) -> None:
    facts = compared.comparison.arms[1]
    unknown = dataclasses.replace(
        facts.quantities["target_s"], value=None, reason="the history has no val_auc; it has loss"
    )
    facts = dataclasses.replace(facts, quantities={"target_s": unknown})

    assert cautions(dataclasses.replace(compared.comparison, arms=(facts,))) == (
        "the target cannot be timed: the history has no val_auc; it has loss",
    )


def test_ratios_have_three_digits() -> None:
    assert [number(value) for value in (0.5, 9.994, 9.996, 99.96, 1234.5)] == [
        "0.50",
        "9.99",
        "10.0",
        "100",
        "1,234",
    ]
