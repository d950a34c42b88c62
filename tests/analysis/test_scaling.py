"""The arithmetic of several devices, and the laws it obeys."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.analysis.scaling import (
    BACKWARD_SHARE,
    LINKS,
    WORTH_SHARE,
    Link,
    Work,
    all_reduce_s,
    fixed_part_s,
    scale,
    worth_from_s,
)

links = st.sampled_from(LINKS)
sizes = st.integers(1, 10**12)
counts = st.integers(2, 4096)
times_s = st.floats(1e-6, 1e3)


def link(rate: float = 1e9, latency_s: float = 0.0) -> Link:
    return Link(
        name="x", between="GPUs", bytes_per_s=rate, usable_share=1.0, latency_s=latency_s, source="a test"
    )


def test_two_devices_exchange_the_gradients_once_and_many_nearly_twice() -> None:
    assert all_reduce_s(10**9, 2, link()) == pytest.approx(1.0)
    assert all_reduce_s(10**9, 4, link()) == pytest.approx(1.5)
    assert all_reduce_s(10**9, 4, link(latency_s=0.1)) == pytest.approx(1.5 + 6 * 0.1)


def test_one_device_exchanges_nothing() -> None:
    assert all_reduce_s(10**9, 1, LINKS[0]) == 0.0


@given(size=sizes, count=counts, over=links)
def test_an_exchange_takes_longer_with_more_devices_and_with_more_bytes(
    size: int, count: int, over: Link
) -> None:
    once = all_reduce_s(size, count, over)

    assert all_reduce_s(size, count + 1, over) > once
    assert all_reduce_s(2 * size, count, over) > once
    assert once < 2 * size / over.usable_bytes_per_s + 2 * count * over.latency_s


@given(size=sizes, count=counts, over=links, step_s=times_s, fixed=st.floats(0, 1))
def test_no_efficiency_exceeds_one_and_overlap_never_hurts(
    size: int, count: int, over: Link, step_s: float, fixed: float
) -> None:
    (found,) = scale(Work(gradient_bytes=size, step_s=step_s, fixed_s=fixed * step_s), [count], [over])

    for efficiency in (found.growing, found.same):
        assert efficiency is not None
        assert 0 < efficiency.low <= efficiency.high <= 1 + 1e-12


@given(size=sizes, count=counts, over=links, step_s=times_s, fixed=st.floats(0, 1))
def test_a_growing_batch_scales_no_worse_than_a_divided_one(
    size: int, count: int, over: Link, step_s: float, fixed: float
) -> None:
    (found,) = scale(Work(gradient_bytes=size, step_s=step_s, fixed_s=fixed * step_s), [count], [over])

    assert found.growing is not None
    assert found.same is not None
    assert found.growing.low >= found.same.low * (1 - 1e-12)
    assert found.growing.high >= found.same.high * (1 - 1e-12)


@given(size=sizes, count=counts, over=links, step_s=times_s)
def test_a_longer_step_scales_no_worse(size: int, count: int, over: Link, step_s: float) -> None:
    (short,) = scale(Work(gradient_bytes=size, step_s=step_s), [count], [over])
    (long,) = scale(Work(gradient_bytes=size, step_s=2 * step_s), [count], [over])

    assert short.growing is not None
    assert long.growing is not None
    assert long.growing.low >= short.growing.low
    assert long.growing.high >= short.growing.high * (1 - 1e-12)


@given(size=sizes, count=counts, over=links)
def test_the_step_from_which_it_is_worth_it_is_the_one_with_just_that_efficiency(
    size: int, count: int, over: Link
) -> None:
    hidden_s, exposed_s = worth_from_s(all_reduce_s(size, count, over))
    (at_hidden,) = scale(Work(gradient_bytes=size, step_s=hidden_s), [count], [over])
    (at_exposed,) = scale(Work(gradient_bytes=size, step_s=exposed_s), [count], [over])

    assert at_hidden.growing is not None
    assert at_exposed.growing is not None
    assert at_hidden.growing.high == pytest.approx(WORTH_SHARE)
    assert at_exposed.growing.low == pytest.approx(WORTH_SHARE)


def test_an_exchange_within_the_backward_pass_costs_nothing_when_hidden() -> None:
    (found,) = scale(Work(gradient_bytes=10**9, step_s=1 / BACKWARD_SHARE + 0.001), [2], [link()])

    assert found.growing is not None
    assert found.growing.high == 1.0
    assert found.growing.low == pytest.approx(0.6, abs=0.001)


def test_without_a_step_time_there_is_no_efficiency() -> None:
    (found,) = scale(Work(gradient_bytes=10**6), [2], [LINKS[0]])

    assert (found.growing, found.same) == (None, None)
    assert found.worth_from_s[0] > 0


def test_what_does_not_shrink_limits_a_divided_batch() -> None:
    (found,) = scale(Work(gradient_bytes=1, step_s=1.0, fixed_s=1.0), [4], [link(rate=1e12)])

    assert found.same is not None
    assert found.same.high == pytest.approx(0.25)


@given(
    fixed_s=st.floats(0, 10),
    per_sample_s=st.floats(1e-6, 1),
    small=st.integers(1, 512),
    more=st.integers(1, 512),
)
def test_the_fixed_part_is_read_off_two_batch_sizes(
    fixed_s: float, per_sample_s: float, small: int, more: int
) -> None:
    large = small + more
    times = [fixed_s + per_sample_s * batch for batch in (small, large)]

    for order in ((small, times[0], large, times[1]), (large, times[1], small, times[0])):
        found = fixed_part_s(*order)
        assert found is not None
        assert found == pytest.approx(fixed_s, abs=1e-6 * (1 + large) * max(times))


@pytest.mark.parametrize(("batch_b", "step_b_s"), [(32, 2.0), (64, 1.0), (64, 0.5)])
def test_two_batch_sizes_that_do_not_tell_give_no_fixed_part(batch_b: int, step_b_s: float) -> None:
    assert fixed_part_s(32, 1.0, batch_b, step_b_s) is None


def test_each_link_says_where_its_numbers_come_from_and_is_slower_than_the_one_before_it() -> None:
    for between in ("GPUs", "machines"):
        rates = [item.usable_bytes_per_s for item in LINKS if item.between == between]
        assert rates == sorted(rates, reverse=True)
    assert all(item.source and 0 < item.usable_share <= 1 and math.isfinite(item.latency_s) for item in LINKS)
