"""Which failures are worth another start."""

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.launch.retry import next_split, next_start
from steptime.plan.plan import Plan
from steptime.record.schema import Attempt, Fault, Outcome
from steptime.testing import make_plan


def plan(split: int = 1, batch_size: int = 32, **protocol: Any) -> Plan:
    made = make_plan(batch_size=batch_size)
    return dataclasses.replace(made, split=split, protocol=dataclasses.replace(made.protocol, **protocol))


def failed(kind: str | None, phase: str = "train", reason: str = "it was ended by SIGKILL") -> Outcome:
    fault = None if kind is None else Fault(kind=kind)
    return Outcome(status="failed", phase=phase, reason=reason, exit_code=3, fault=fault)


def attempt(outcome: Outcome, number: int = 1) -> Attempt:
    return Attempt(
        number=number, phase=outcome.phase, reason=outcome.reason or "", fault=outcome.fault, then="again"
    )


def test_a_killed_worker_is_started_again_as_often_as_was_asked_and_no_more() -> None:
    asked, earlier = plan(retries=2), []
    for number in (1, 2):
        again = next_start(asked, failed("killed"), earlier)
        assert again is not None
        assert again.plan == asked
        assert again.words == f"starting again (retry {number} of 2)"
        earlier.append(attempt(failed("killed"), number))

    assert next_start(asked, failed("killed"), earlier) is None


@pytest.mark.parametrize("kind", [None, "not finite", "data"])
def test_what_would_come_again_is_not_retried(kind: str | None) -> None:
    assert next_start(plan(retries=3), failed(kind), []) is None


@pytest.mark.parametrize("status", ["ok", "interrupted"])
def test_a_run_that_did_not_fail_is_not_started_again(status: str) -> None:
    outcome = dataclasses.replace(failed("killed"), status=status)

    assert next_start(plan(retries=3), outcome, []) is None


def test_a_crash_that_repeats_before_training_ends_the_run_but_one_in_training_does_not() -> None:
    at_import = failed("crashed", "import", "the worker was ended by SIGILL in phase 'import'")
    in_training = failed("crashed", "train", "the worker was ended by SIGSEGV in phase 'train'")

    assert next_start(plan(retries=3), at_import, []) is not None
    assert next_start(plan(retries=3), at_import, [attempt(at_import)]) is None
    assert next_start(plan(retries=3), in_training, [attempt(in_training)]) is not None


def test_out_of_memory_halves_the_batch_only_when_asked_and_only_in_training() -> None:
    again = next_start(plan(on_oom="halve"), failed("out of memory"), [], 48)

    assert again is not None
    assert again.plan.split == 2
    assert again.words.startswith(
        "going on with 24 samples a step and 2 steps an update: the same 48 samples"
    )
    assert next_start(plan(), failed("out of memory"), []) is None
    assert next_start(plan(on_oom="halve"), failed("out of memory", phase="data"), []) is None


def test_a_worker_that_died_before_it_told_its_batch_size_is_halved_by_the_settings() -> None:
    again = next_start(plan(on_oom="halve"), failed("out of memory"), [])

    assert again is not None
    assert again.words.startswith("going on with each batch cut in 2 and 2 steps an update: the same samples")


def test_halving_ends_at_one_sample_and_takes_no_retries() -> None:
    asked, outcome, sizes = plan(on_oom="halve", batch_size=12), failed("out of memory"), []
    while (again := next_start(asked, outcome, [])) is not None:
        asked = again.plan
        sizes.append(asked.settings.batch_size // asked.split)

    assert sizes == [6, 3, 1]


@given(st.integers(1, 5000), st.integers(1, 5000))
def test_the_next_split_divides_the_batch_and_is_the_least_that_at_least_doubles(
    size: int, split: int
) -> None:
    found = next_split(size, split)
    candidates = [n for n in range(2 * split, size + 1) if size % n == 0]

    assert found == (min(candidates) if candidates else None)
