"""Arms are compared: estimates, ratios, verdicts, and what becomes of runs that failed."""

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steptime.analysis.comparison import Comparison, compare
from steptime.analysis.target import parse_target
from steptime.plan.arm import Arm, parse_arm, settings_of
from steptime.plan.settings import Settings
from steptime.record.schema import DeviceUse, Epoch, Outcome
from steptime.record.stored import StoredRun
from steptime.testing import make_plan, make_record, make_run

SLOW, FAST = parse_arm("cpu,loop=keras"), parse_arm("cpu")
MIRROR = {"faster": "slower", "slower": "faster", "same": "same", "cannot tell": "cannot tell"}


def runs_of(
    arm: Arm, steps_s: Sequence[float], seed: int = 0, **changes: object
) -> tuple[Arm, list[StoredRun]]:
    """One run for each typical step time, each with a seed of its own."""
    runs = []
    for repeat, step_s in enumerate(steps_s):
        plan = dataclasses.replace(
            make_plan(epochs=2), arm=arm, settings=settings_of(arm, Settings(device="cpu", epochs=2), repeat)
        )
        runs.append(make_run(make_record(plan, **changes), step_s=step_s, seed=seed + repeat))
    return arm, runs


def scaled(run: StoredRun, factor: float) -> StoredRun:
    columns = {
        key: (values * factor).round().astype(np.int64) if key in ("duration_ns", "end_ns") else values
        for key, values in run.steps.items()
    }
    return dataclasses.replace(run, steps=columns)


def kinds(comparison: Comparison) -> dict[str, str]:
    return {facts.arm.name: facts.verdict.kind for facts in comparison.arms if facts.verdict}


def test_a_clear_difference_is_found_with_its_ratio() -> None:
    comparison = compare([runs_of(SLOW, [0.02, 0.0202]), runs_of(FAST, [0.01, 0.0101], seed=9)], SLOW.name)
    fast = comparison.arm(FAST.name)

    assert kinds(comparison) == {"cpu": "faster"}
    assert comparison.is_clear
    assert fast.quantities["step_s"].value is not None
    assert fast.quantities["step_s"].value.value == pytest.approx(0.01, rel=0.03)
    assert fast.quantities["samples_per_s"].ratio is not None
    assert fast.quantities["samples_per_s"].ratio.value == pytest.approx(2, rel=0.03)
    assert fast.quantities["epoch_s"].value is not None
    assert fast.quantities["epoch_s"].value.value == pytest.approx(18.75, rel=0.03)
    assert comparison.arm(SLOW.name).quantities["step_s"].ratio is None


step_times = st.floats(0.001, 0.1)


@pytest.mark.slow
@given(st.lists(step_times, min_size=1, max_size=4), st.lists(step_times, min_size=1, max_size=4))
@settings(max_examples=25, deadline=None)
def test_swapping_the_arms_mirrors_the_verdict(one: list[float], other: list[float]) -> None:
    pairs = [runs_of(SLOW, one), runs_of(FAST, other, seed=9)]
    there = compare(pairs, SLOW.name).arm(FAST.name)
    back = compare(pairs, FAST.name).arm(SLOW.name)

    assert there.verdict is not None
    assert back.verdict is not None
    assert back.verdict.kind == MIRROR[there.verdict.kind]
    assert there.verdict.time_ratio is not None
    assert back.verdict.time_ratio is not None
    assert there.verdict.time_ratio.value * back.verdict.time_ratio.value == pytest.approx(1)
    assert there.verdict.time_ratio.low * back.verdict.time_ratio.high == pytest.approx(1)


@pytest.mark.slow
@given(
    st.lists(step_times, min_size=2, max_size=3),
    st.lists(step_times, min_size=2, max_size=3),
    st.sampled_from([0.125, 2.0, 64.0]),
)
@settings(max_examples=25, deadline=None)
def test_scaling_all_times_changes_no_verdict(one: list[float], other: list[float], factor: float) -> None:
    pairs = [runs_of(SLOW, one), runs_of(FAST, other, seed=9)]
    larger = [(arm, [scaled(run, factor) for run in runs]) for arm, runs in pairs]
    before, after = compare(pairs, SLOW.name), compare(larger, SLOW.name)

    assert kinds(after) == kinds(before)
    ratios = [item.arm(FAST.name).quantities["step_s"].ratio for item in (before, after)]
    assert ratios[0] is not None
    assert ratios[1] is not None
    assert ratios[1].value == pytest.approx(ratios[0].value, rel=1e-5)


def test_an_arm_against_itself_is_no_difference() -> None:
    pairs = [runs_of(SLOW, [0.01, 0.0101, 0.01]), runs_of(FAST, [0.0101, 0.01, 0.01], seed=9)]

    assert kinds(compare(pairs, SLOW.name)) == {"cpu": "same"}


def test_unlike_batches_are_compared_by_the_sample() -> None:
    arm = parse_arm("cpu,batch_size=64")
    _, runs = runs_of(arm, [0.01, 0.0101], seed=9)
    doubled = [
        dataclasses.replace(run, steps={**run.steps, "samples": run.steps["samples"] * 2}) for run in runs
    ]

    comparison = compare([runs_of(SLOW, [0.01, 0.0101]), (arm, doubled)], SLOW.name)

    assert kinds(comparison) == {arm.name: "faster"}


def test_a_failed_arm_has_its_reason_and_the_others_keep_their_results() -> None:
    lost = Outcome(status="failed", phase="train", reason="out of memory: 2 GiB", exit_code=3)
    comparison = compare(
        [
            runs_of(SLOW, [0.02, 0.02]),
            runs_of(FAST, [0.01], outcome=lost),
            runs_of(parse_arm("loop=xla"), [0.01, 0.01]),
        ],
        SLOW.name,
    )

    failed = comparison.arm(FAST.name)
    assert failed.repeats == 0
    assert failed.failure == "it failed in phase train: out of memory: 2 GiB"
    assert failed.verdict is not None
    assert failed.verdict.time_ratio is None
    assert comparison.arm("loop=xla").verdict.kind == "faster"  # type: ignore[union-attr]


def test_a_failed_baseline_leaves_numbers_but_no_verdict() -> None:
    lost = Outcome(status="failed", phase="data", reason="no file", exit_code=2)
    comparison = compare([runs_of(SLOW, [0.02], outcome=lost), runs_of(FAST, [0.01, 0.01])], SLOW.name)

    fast = comparison.arm(FAST.name)
    assert fast.quantities["step_s"].value is not None
    assert fast.quantities["step_s"].ratio is None
    assert fast.verdict is not None
    assert fast.verdict.kind == "cannot tell"


def test_a_faster_arm_that_trains_worse_is_marked() -> None:
    epochs = (Epoch(epoch=0, logs={"loss": 0.9, "val_accuracy": 0.7}, steps=9, train_ns=1, validate_ns=None),)
    good = (Epoch(epoch=0, logs={"loss": 0.9, "val_accuracy": 0.98}, steps=9, train_ns=1, validate_ns=None),)
    comparison = compare(
        [runs_of(SLOW, [0.02, 0.02], epochs=good), runs_of(FAST, [0.01, 0.01], epochs=epochs)], SLOW.name
    )
    training = comparison.arm(FAST.name).training

    assert training is not None
    assert training.kind == "worse"
    assert "val_accuracy" in training.reason


def test_a_target_that_some_run_missed_is_not_a_number() -> None:
    target = parse_target("accuracy=0.96")
    missed = (Epoch(epoch=0, logs={"accuracy": 0.9}, steps=9, train_ns=1, validate_ns=None, end_ns=5),)
    arm, (first, second) = runs_of(FAST, [0.01, 0.01])
    second = dataclasses.replace(second, record=dataclasses.replace(second.record, epochs=missed))

    comparison = compare([runs_of(SLOW, [0.02, 0.02]), (arm, [first, second])], SLOW.name, target)

    assert comparison.arm(SLOW.name).quantities["target_s"].value is not None
    estimate = comparison.arm(FAST.name).quantities["target_s"]
    assert estimate.value is None
    assert estimate.reason == "not reached in 1 epoch (1 of 2 runs)"


def test_work_of_others_that_could_explain_the_difference_makes_it_untold() -> None:
    def use(share: float) -> tuple[DeviceUse, ...]:
        names = (field.name for field in dataclasses.fields(DeviceUse))
        values = dict.fromkeys(names) | {
            "name": "cpu",
            "samples": 9,
            "other_work_share": share,
            "throttle_shares": {},
        }
        return (DeviceUse(**values),)

    quiet = compare([runs_of(SLOW, [0.012, 0.012]), runs_of(FAST, [0.01, 0.01])], SLOW.name)
    busy = compare(
        [runs_of(SLOW, [0.012, 0.012], devices=use(0.5)), runs_of(FAST, [0.01, 0.01], devices=use(0.0))],
        SLOW.name,
    )

    assert kinds(quiet) == {"cpu": "faster"}
    assert kinds(busy) == {"cpu": "cannot tell"}
