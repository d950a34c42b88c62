"""The step alone, split into launching, computing and moving bytes."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.analysis.split import peak_flops, split_step
from steptime.record.operations import KindTime, NodeTime
from steptime.testing import make_ceilings, make_operations, make_profile

PROFILE = make_profile()
CEILINGS = make_ceilings()


def kind(name: str, group: str, time_s: float, count: float = 1) -> KindTime:
    return KindTime(kind=name, group=group, device="host", count=count, time_s=time_s)


@given(
    alone=st.floats(1e-6, 10),
    ratio=st.floats(0.5, 4),
    launch=st.one_of(st.none(), st.floats(1e-7, 1e-4)),
    traced=st.booleans(),
)
def test_the_shares_add_up_to_one_and_none_is_negative(
    alone: float, ratio: float, launch: float | None, traced: bool
) -> None:
    ceilings = dataclasses.replace(CEILINGS, launch_s=launch)
    operations = make_operations() if traced else None

    split = split_step(PROFILE, operations, ceilings, alone_s=alone, doubled_s=alone * ratio)

    assert split.launch + split.compute + split.memory == pytest.approx(1)
    assert min(split.launch, split.compute, split.memory) >= -1e-12


def test_a_step_that_does_not_grow_with_its_batch_is_launching_where_operations_can_cost_that_much() -> None:
    split = split_step(PROFILE, None, CEILINGS, alone_s=0.001, doubled_s=0.00105)

    assert split.launch == pytest.approx(0.95)


def test_a_step_that_does_not_grow_but_is_longer_than_all_launches_moves_weights() -> None:
    assert PROFILE.counts is not None
    heavy = dataclasses.replace(
        PROFILE, counts=dataclasses.replace(PROFILE.counts, fixed_bytes=6_000_000_000)
    )

    split = split_step(heavy, None, CEILINGS, alone_s=0.5, doubled_s=0.51)

    assert split.launch < 0.01
    assert split.memory > 0.95


def test_a_step_that_doubles_computes_where_the_trace_shows_products() -> None:
    split = split_step(PROFILE, make_operations(), CEILINGS, alone_s=0.01, doubled_s=0.02)

    assert split.compute == pytest.approx(1.0)


def test_a_step_that_doubles_moves_bytes_where_the_trace_shows_element_wise_operations() -> None:
    kinds = (kind("Mul", "elementwise", 0.008), kind("MatMul", "matmul", 0.001))
    split = split_step(
        PROFILE, make_operations(kinds=kinds, nodes=()), CEILINGS, alone_s=0.01, doubled_s=0.02
    )

    assert split.memory == pytest.approx(8 / 9)


def test_a_product_whose_bytes_take_longer_than_its_arithmetic_counts_as_memory() -> None:
    product = NodeTime(
        name="dense/MatMul", kind="MatMul", group="matmul", layer="dense", role="forward", device="host",
        count=1, time_s=0.008, flops=1e6, bytes=64e6,
    )  # fmt: skip
    operations = make_operations(kinds=(kind("MatMul", "matmul", 0.008),), nodes=(product,))

    split = split_step(PROFILE, operations, CEILINGS, alone_s=0.01, doubled_s=0.02)

    assert split.memory == pytest.approx(1.0)


def test_without_trace_counts_and_ceilings_tell_compute_from_memory() -> None:
    split = split_step(PROFILE, None, CEILINGS, alone_s=0.01, doubled_s=0.02)

    compute_s, memory_s = 500e6 / 80e9, 57e6 / 12e9
    assert split.compute == pytest.approx(compute_s / (compute_s + memory_s))
    assert split.is_sure


def test_programs_of_xla_that_do_not_tell_what_they_hold_leave_the_answer_to_the_counts() -> None:
    kinds = (kind("fusion", "other", 0.006), kind("dot", "matmul", 0.002))
    traced = split_step(
        PROFILE, make_operations(kinds=kinds, nodes=()), CEILINGS, alone_s=0.01, doubled_s=0.02
    )
    counted = split_step(PROFILE, None, CEILINGS, alone_s=0.01, doubled_s=0.02)

    assert traced.compute == pytest.approx(counted.compute)
    assert traced.how["compute"] == counted.how["compute"]


def test_without_anything_to_go_by_the_split_says_that_it_is_not_sure() -> None:
    split = split_step(PROFILE, None, None, alone_s=0.01, doubled_s=0.02)

    assert not split.is_sure


def test_an_xla_step_is_started_as_one() -> None:
    xla = dataclasses.replace(PROFILE.loop, name="xla")
    split = split_step(dataclasses.replace(PROFILE, loop=xla), None, CEILINGS, alone_s=0.001, doubled_s=0.001)

    assert split.launch == pytest.approx(2 * 20 * 3e-6 / 0.001)


@pytest.mark.parametrize(
    ("precision", "device", "expected"),
    [
        ("float32", "cpu", 1.0),
        ("float32", "gpu:0", 2.0),
        ("mixed_bfloat16", "gpu:0", 3.0),
        ("mixed_float16", "gpu:0", None),
    ],
)
def test_the_peak_is_that_of_the_jobs_precision(precision: str, device: str, expected: float | None) -> None:
    ceilings = make_ceilings(flops_per_s={"float32": 1.0, "tf32": 2.0, "bfloat16": 3.0})

    assert peak_flops(make_profile(precision=precision, device=device), ceilings) == expected


def test_what_grows_less_than_the_batch_and_is_neither_launch_nor_weights_is_no_traffic() -> None:
    split = split_step(PROFILE, make_operations(nodes=()), CEILINGS, alone_s=0.05, doubled_s=0.08)

    assert split.launch == pytest.approx(2 * 420 * 3e-6 / 0.05)
    assert split.compute == pytest.approx(1 - split.launch - 3e6 / 12e9 / 0.05)
