"""What remedies really saved, from a comparison of runs."""

import dataclasses

import pytest

from steptime.analysis.comparison import compare
from steptime.diagnosis.speed.rule import Remedy, SpeedFinding
from steptime.diagnosis.speed.trial import trials_of
from steptime.plan.arm import Arm
from steptime.record.schema import Outcome
from steptime.testing import make_record, make_run


def finding(kind: str, **patch: str) -> SpeedFinding:
    return SpeedFinding(
        kind=kind, title="", cause="", evidence=(), saves_at_most_s=None, saves_step_s=0.006, saves_share=0.6, how="",
        remedy=Remedy(lines=(), patch=patch, changes_results=False), link="",
    )  # fmt: skip


def trial(
    step_s: float, patch: dict[str, str], *, validate_ns: int = 0, validated_before_ns: int = 0, status="ok"
):
    kind = "remedy"
    arms = (Arm(name="as-it-is", changes={"device": "cpu"}), Arm(name=kind, changes=patch))

    def runs(own_s: float, own_ns: int, outcome: Outcome):
        record = make_record(outcome=outcome)
        epochs = tuple(dataclasses.replace(epoch, validate_ns=own_ns or None) for epoch in record.epochs)
        record = dataclasses.replace(record, epochs=epochs)
        return [make_run(record, step_s=own_s, seed=seed) for seed in range(3)]

    good = Outcome(status="ok", phase="save")
    bad = Outcome(status="failed", phase="train", reason="out of memory")
    own = {
        "as-it-is": runs(0.010, validated_before_ns, good),
        kind: runs(step_s, validate_ns, good if status == "ok" else bad),
    }
    comparison = compare([(arm, own[arm.name]) for arm in arms], "as-it-is")
    (answer,) = trials_of(comparison, own, [finding(kind, **patch)])
    return answer


def test_what_was_saved_is_measured_against_the_run_as_it_is() -> None:
    answer = trial(0.005, {"loop": "xla"})

    assert answer.verdict == "faster"
    assert answer.saved_s is not None
    assert answer.saved_s.value == pytest.approx(0.005, rel=0.05)
    assert answer.saved_s.low < answer.saved_s.value < answer.saved_s.high
    assert answer.predicted_s == 0.006
    assert answer.training == "equal"


def test_a_remedy_that_makes_it_worse_is_called_slower_with_a_negative_saving() -> None:
    answer = trial(0.020, {"loop": "xla"})

    assert answer.verdict == "slower"
    assert answer.saved_s is not None
    assert answer.saved_s.value < 0


def test_validating_less_often_saves_time_between_steps() -> None:
    answer = trial(
        0.010, {"validation_freq": "5"}, validated_before_ns=1_875_000_000, validate_ns=375_000_000
    )

    assert answer.verdict == "faster"
    assert answer.saved_s is not None
    assert answer.saved_s.value == pytest.approx(0.0008, abs=0.0003)


def test_noise_of_validation_is_not_counted_for_other_remedies() -> None:
    answer = trial(0.010, {"loop": "xla"}, validated_before_ns=1_875_000_000, validate_ns=375_000_000)

    assert answer.verdict == "same"


def test_a_remedy_that_failed_says_why() -> None:
    answer = trial(0.005, {"batch_size": "1000000"}, status="failed")

    assert answer.verdict == "failed"
    assert answer.saved_s is None
    assert "out of memory" in (answer.reason or "")
