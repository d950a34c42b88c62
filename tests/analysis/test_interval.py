import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.analysis.interval import ASSUMED_SPREAD, Measured, mean_interval, ratio_interval, welch_df

times = st.lists(st.floats(0.5, 2.0), min_size=1, max_size=9)


def measured(values, error=0.0):
    return [Measured(value=value, error=error) for value in values]


def test_three_repeats_give_students_interval_of_the_logarithms():
    interval = mean_interval(measured([math.e**-0.01, 1.0, math.e**0.01]))
    assert interval.value == pytest.approx(1.0)
    assert math.log(interval.high) == pytest.approx(4.3027 * 0.01 / math.sqrt(3), rel=1e-4)
    assert interval.low == pytest.approx(1 / interval.high)
    assert not interval.is_assumed


def test_one_repeat_gets_the_assumed_spread_and_says_so():
    interval = mean_interval(measured([2.0]))
    assert interval.is_assumed
    assert math.log(interval.high / 2) == pytest.approx(1.96 * ASSUMED_SPREAD, rel=1e-3)
    assert ratio_interval(measured([1.0]), measured([1.0, 1.0, 1.0])).is_assumed


def test_repeats_that_agree_by_luck_keep_the_error_within_them():
    lucky = ratio_interval(measured([1.0, 1.0], error=0.02), measured([1.0, 1.0], error=0.02))
    assert math.log(lucky.high) == pytest.approx(4.3027 * 0.02, rel=1e-3)


def test_one_bad_run_of_five_hardly_widens_the_interval():
    clean = measured([1.0, 1.01, 0.99, 1.005, 0.995])
    spoilt = measured([1.0, 1.01, 0.99, 1.3, 0.995])
    of_clean, of_spoilt = ratio_interval(clean, clean), ratio_interval(clean, spoilt)
    assert math.log(of_spoilt.high / of_spoilt.low) < 3 * math.log(of_clean.high / of_clean.low)
    four = ratio_interval(clean[:4], spoilt[:4])
    assert math.log(four.high / four.low) > 5 * math.log(of_spoilt.high / of_spoilt.low)


def test_welchs_degrees_of_freedom_reach_from_the_smaller_arm_to_both():
    assert welch_df((1.0, 3), (0.0, 3)) == 2
    assert welch_df((1.0, 3), (1.0, 3)) == 4
    assert welch_df((1.0, 1), (1.0, 1)) == math.inf
    assert welch_df((0.0, 3), (0.0, 3)) == math.inf
    assert welch_df((1e-300, 3), (1e-300, 3)) == pytest.approx(4)
    assert welch_df((1.0, 1), (1e-30, 3)) > 1e6


@given(times, times)
def test_swapping_the_arms_inverts_the_ratio(a, b):
    one, other = ratio_interval(measured(a), measured(b)), ratio_interval(measured(b), measured(a)).inverse()
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))


@given(times, times, st.floats(1e-9, 1e9), st.floats(1e-3, 1e3))
def test_scaling_all_times_changes_nothing_and_scaling_one_arm_scales_the_ratio(a, b, both, one):
    plain = ratio_interval(measured(a), measured(b))
    scaled = ratio_interval(measured(np.array(a) * both), measured(np.array(b) * both * one))
    # Two candidates of nearly the same width may change places by rounding.
    assert scaled.high / scaled.low == pytest.approx(plain.high / plain.low, rel=1e-6)
    assert scaled.value == pytest.approx(plain.value * one, rel=0.5 if len(a) > 4 < len(b) else 1e-6)


@given(times, times, st.randoms())
def test_the_order_of_repeats_changes_nothing(a, b, random):
    shuffled_a, shuffled_b = random.sample(a, len(a)), random.sample(b, len(b))
    one, other = (
        ratio_interval(measured(a), measured(b)),
        ratio_interval(measured(shuffled_a), measured(shuffled_b)),
    )
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))


@given(times, times)
def test_the_value_lies_inside_and_more_confidence_is_wider(a, b):
    narrow = ratio_interval(measured(a), measured(b), 0.9)
    wide = ratio_interval(measured(a), measured(b), 0.99)
    assert narrow.low <= narrow.value <= narrow.high
    assert wide.high / wide.low >= narrow.high / narrow.low


@pytest.mark.parametrize("n", [2, 3, 5, 8])
@pytest.mark.slow
def test_95_per_cent_intervals_hold_the_truth_95_times_in_100(n):
    rng = np.random.default_rng(n)
    logs = rng.normal(0, 0.015, (2, 1000, n))
    inside = 0
    for a, b in zip(*np.exp(logs), strict=True):
        interval = ratio_interval(measured(a), measured(b))
        inside += interval.low <= 1 <= interval.high
    assert inside >= 930  # 95 % less three standard errors
