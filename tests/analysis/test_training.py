import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.analysis.training import compare_training

ACCURATE = [0.981, 0.983, 0.982]


def test_seeds_that_differ_a_little_trained_alike():
    check = compare_training(ACCURATE, [0.982, 0.980, 0.983], higher_is_better=True)
    assert check.quality == "equal"
    assert not check.is_assumed


def test_a_clear_loss_of_accuracy_is_worse_and_a_gain_is_better():
    worse = compare_training(ACCURATE, [0.94, 0.95, 0.945], higher_is_better=True)
    assert worse.quality == "worse"
    assert worse.difference == pytest.approx(-0.037)
    assert "trained worse: 0.945 against 0.982" in worse.reason
    assert compare_training([0.94, 0.95, 0.945], ACCURATE, higher_is_better=True).quality == "better"


def test_for_a_loss_lower_is_better():
    assert compare_training([0.050, 0.052], [0.20, 0.21], higher_is_better=False).quality == "worse"
    assert compare_training([0.20, 0.21], [0.050, 0.052], higher_is_better=False).quality == "better"


def test_a_sure_but_tiny_difference_is_of_no_interest():
    baseline, other = [0.98200, 0.98201, 0.98199], [0.98150, 0.98151, 0.98149]
    assert compare_training(baseline, other, higher_is_better=True).quality == "equal"


def test_one_run_each_is_judged_by_the_noise_of_the_validation_set():
    small = compare_training([0.98], [0.978], higher_is_better=True, samples=10_000)
    assert small.quality == "equal"
    assert small.is_assumed
    assert compare_training([0.98], [0.97], higher_is_better=True, samples=10_000).quality == "worse"
    assert compare_training([0.78], [0.75], higher_is_better=True, samples=100).quality == "equal"


def test_repeats_of_one_seed_do_not_pretend_to_have_no_noise():
    check = compare_training([0.98, 0.98], [0.978, 0.978], higher_is_better=True, samples=10_000)
    assert check.is_assumed
    assert check.quality == "equal"


def test_a_perfect_score_is_not_free_of_noise():
    assert compare_training([1.0], [0.99], higher_is_better=True, samples=100).quality == "equal"


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_training_that_diverges_is_worse(bad):
    check = compare_training([0.1, 0.1], [0.1, bad], higher_is_better=False)
    assert check.quality == "worse"
    assert "diverged in 1 of 2 runs" in check.reason
    assert compare_training([bad, 0.1], [0.1, 0.1], higher_is_better=False).quality == "better"
    assert compare_training([bad], [bad], higher_is_better=False).quality == "unknown"


def test_without_values_nothing_is_known():
    assert compare_training([], [0.1], higher_is_better=False).quality == "unknown"


MIRROR = {"better": "worse", "worse": "better", "equal": "equal", "unknown": "unknown"}


@given(
    st.lists(st.floats(0.01, 1), min_size=1, max_size=5), st.lists(st.floats(0.01, 1), min_size=1, max_size=5)
)
def test_swapping_the_arms_mirrors_the_finding(a, b):
    for higher in (True, False):
        one = compare_training(a, b, higher_is_better=higher, samples=1000)
        other = compare_training(b, a, higher_is_better=higher, samples=1000)
        assert other.quality == MIRROR[one.quality]
