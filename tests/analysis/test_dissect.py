"""Parts of a step that add up, and what bounds it."""

import dataclasses
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steptime.analysis.anatomy import BOUNDS, Anatomy
from steptime.analysis.dissect import dissect
from steptime.record.profile import CallbackCost, Loop, Profile, Timing, Timings, Tracing
from steptime.testing import (
    make_ceilings,
    make_operations,
    make_plan,
    make_profile,
    make_record,
    make_run,
    make_timing,
)

RUN = make_run()
STREAMED = Loop(
    name="keras", reason="as asked", is_resident=False, is_stock=True, run_eagerly=False, jit_compile=False,
    steps_per_execution=1,
)  # fmt: skip


def profiled(
    as_is: float, repeated: float, pipeline: float, alone: float, doubled: float, **changes: Any
) -> Profile:
    timings = Timings(
        as_is=make_timing(as_is),
        repeated=make_timing(repeated),
        input=make_timing(pipeline),
        resident=make_timing(alone),
        doubled=make_timing(doubled, batch_size=64),
    )
    return make_profile(timings=timings, loop=STREAMED, **changes)


def taken_apart(profile: Profile | None, **given: Any) -> Anatomy:
    return dissect(profile, given.get("operations"), given.get("ceilings", make_ceilings()), RUN)


def part(anatomy: Anatomy, kind: str) -> float:
    return next(part.step_s.value for part in anatomy.parts if part.kind == kind)


positive = st.floats(1e-5, 10)


@settings(max_examples=200)
@given(positive, positive, positive, positive, positive, st.booleans(), st.booleans())
def test_parts_and_what_is_unexplained_add_up_to_the_measured_step_whatever_was_measured(
    as_is: float,
    repeated: float,
    pipeline: float,
    alone: float,
    doubled: float,
    resident: bool,
    traced: bool,
) -> None:
    profile = profiled(as_is, repeated, pipeline, alone, doubled)
    if resident:
        profile = dataclasses.replace(profile, loop=make_profile().loop)

    anatomy = taken_apart(profile, operations=make_operations() if traced else None)

    whole = sum(part.step_s.value for part in anatomy.parts)
    assert anatomy.step_s is not None
    assert anatomy.residual_share is not None
    assert whole + anatomy.residual_share * as_is == pytest.approx(as_is)
    assert sum(anatomy.shares.values()) == pytest.approx(1 - anatomy.residual_share)
    assert all(part.step_s.low <= part.step_s.value <= part.step_s.high for part in anatomy.parts)
    assert all(part.step_s.value >= -1e-12 for part in anatomy.parts)
    assert anatomy.bound in BOUNDS


def test_a_step_that_shrinks_when_its_batch_is_repeated_waits_for_input() -> None:
    anatomy = taken_apart(profiled(0.050, 0.010, 0.042, 0.009, 0.018))

    assert anatomy.bound == "input"
    assert part(anatomy, "input") == pytest.approx(0.040)


def test_a_wait_that_the_pipeline_cannot_cause_is_left_unexplained() -> None:
    anatomy = taken_apart(profiled(0.050, 0.010, 0.001, 0.009, 0.018))

    assert anatomy.bound == "unknown"
    assert anatomy.residual_share is not None
    assert anatomy.residual_share > 0.7


def test_a_step_that_is_mostly_python_is_bound_by_the_host() -> None:
    anatomy = taken_apart(profiled(0.050, 0.049, 0.001, 0.005, 0.010))

    assert anatomy.bound == "host"
    assert part(anatomy, "python") == pytest.approx(0.044)


def test_callbacks_are_the_hosts_and_not_the_inputs() -> None:
    slow = CallbackCost(name="Sleeper", by="person", step_s=0.040)
    anatomy = taken_apart(profiled(0.050, 0.010, 0.001, 0.009, 0.018, callbacks=(slow,)))

    assert anatomy.bound == "host"
    assert part(anatomy, "callbacks") == pytest.approx(0.040)
    assert part(anatomy, "input") < 0.001


def test_tracing_again_is_the_hosts() -> None:
    again = Tracing(count=7, steps=50, time_s=0.035, shapes=("(32, 17)",))
    anatomy = taken_apart(profiled(0.050, 0.010, 0.001, 0.009, 0.018, tracing=again))

    assert anatomy.bound == "host"
    assert part(anatomy, "tracing") == pytest.approx(0.035)


def test_a_step_that_doubles_with_its_batch_and_multiplies_matrices_is_bound_by_computing() -> None:
    anatomy = taken_apart(profiled(0.0102, 0.0101, 0.0002, 0.0100, 0.0199), operations=make_operations())

    assert anatomy.bound == "compute"
    assert anatomy.doubling_ratio == pytest.approx(1.99)


def test_a_small_step_that_does_not_grow_is_bound_by_the_host() -> None:
    anatomy = taken_apart(profiled(0.0012, 0.0012, 0.0001, 0.0011, 0.00112))

    assert anatomy.bound == "host"


def test_two_equal_halves_are_mixed_and_both_are_named() -> None:
    anatomy = taken_apart(profiled(0.020, 0.010, 0.011, 0.0099, 0.0198), operations=make_operations())

    assert anatomy.bound == "mixed"
    assert "input" in anatomy.why
    assert "matrix products" in anatomy.why


def test_timings_that_spread_too_far_to_tell_are_mixed() -> None:
    profile = profiled(0.020, 0.009, 0.012, 0.0089, 0.0178)
    wild = Timing(step_s=(0.005, 0.012, 0.020, 0.040, 0.060), steps=50, batch_size=32)
    timings = dataclasses.replace(profile.timings, as_is=wild)

    anatomy = taken_apart(dataclasses.replace(profile, timings=timings), operations=make_operations())

    assert anatomy.bound == "mixed"


def test_where_the_step_alone_could_not_be_timed_compute_and_memory_are_not_told_apart() -> None:
    profile = profiled(0.010, 0.0099, 0.0001, 0.0098, 0.0196)
    none = Timing(step_s=(), steps=0, batch_size=None, reason="it cannot be traced")
    timings = dataclasses.replace(profile.timings, resident=none, doubled=none)

    anatomy = taken_apart(dataclasses.replace(profile, timings=timings))

    assert anatomy.bound == "unknown"
    assert anatomy.missing["timings.resident"] == "it cannot be traced"


def test_a_gather_on_the_device_counts_as_input_of_resident_data() -> None:
    anatomy = taken_apart(make_profile())

    assert part(anatomy, "input") == pytest.approx(0.0002)


def test_the_best_step_is_the_slower_of_arithmetic_and_traffic() -> None:
    anatomy = taken_apart(make_profile())

    assert anatomy.best_step_s == pytest.approx(540e6 / 80e9)
    assert anatomy.best_how is not None
    assert "arithmetic" in anatomy.best_how
    assert anatomy.mfu_share == pytest.approx(540e6 / 0.0102 / 80e9)


def test_profiling_says_how_much_it_disturbed_the_step() -> None:
    assert taken_apart(make_profile()).disturbance_share == pytest.approx(0.0105 / 0.0101 - 1)


def test_a_run_without_a_profile_says_what_it_knows_and_how_to_get_the_rest() -> None:
    anatomy = taken_apart(None)

    assert anatomy.bound == "unknown"
    assert anatomy.step_s is not None
    assert not anatomy.parts
    assert "`steptime profile mnist-cnn`" in anatomy.missing["shares"]


def test_the_command_names_a_persons_own_file_by_its_path(tmp_path: Any) -> None:
    job = tmp_path / "job.py"
    job.write_text("def create_model(): ...\ndef load_data(): ...\n")
    run = make_run(make_record(make_plan(str(job))))

    assert f"`steptime profile {job}`" in dissect(None, None, None, run).missing["shares"]
