import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.analysis.steady import find_steady, median_error


def noisy(levels, seed=0, spread=0.02):
    return np.asarray(levels, dtype=float) * np.exp(
        np.random.default_rng(seed).normal(0, spread, len(levels))
    )


@pytest.mark.parametrize("n", [20, 60, 150, 500])
def test_a_slow_beginning_is_cut_off(n):
    slow = n // 5
    steady = find_steady(noisy([1.5] * slow + [1.0] * (n - slow)))
    assert slow <= steady.first <= n // 2
    assert steady.is_steady
    assert steady.median_s == pytest.approx(1.0, rel=0.03)


@pytest.mark.parametrize("n", [30, 200])
def test_a_warm_up_that_fades_is_cut_off(n):
    steady = find_steady(noisy(1 + np.exp(-np.arange(n) / (n / 20))))
    assert steady.first > n // 20
    assert steady.median_s == pytest.approx(1.0, rel=0.03)


def test_a_steady_run_loses_little():
    lost = [find_steady(noisy([1.0] * 200, seed)).first for seed in range(50)]
    assert np.mean(lost) < 20


def test_steps_that_become_longer_are_no_steady_state():
    steady = find_steady(noisy(np.linspace(1.0, 1.3, 200)))
    assert not steady.is_steady
    assert "% longer" in steady.reason


def test_a_warm_up_of_more_than_half_the_run_is_no_steady_state():
    steady = find_steady(noisy([2.0] * 70 + [1.0] * 30))
    assert not steady.is_steady


def test_steady_noise_is_rarely_called_unsteady():
    verdicts = [
        find_steady(noisy([1.0] * n, seed, 0.05)).is_steady for n in (16, 40, 200) for seed in range(100)
    ]
    assert np.mean(verdicts) > 0.95


def test_stalls_move_neither_the_cut_nor_the_median_but_are_counted():
    times = noisy([1.0] * 200)
    times[150::10] *= 6
    steady = find_steady(times)
    assert steady.first < 50
    assert steady.median_s == pytest.approx(1.0, rel=0.01)
    assert steady.outlier_share == pytest.approx(5 / steady.blocks)
    assert steady.stall_share == pytest.approx(1 - 1 / (1 + 25 / steady.blocks), abs=0.02)


def test_a_quiet_run_has_no_outliers_of_a_fraction_of_a_per_cent():
    times = np.full(50, 1.0)
    times[40] = 1.005
    assert find_steady(times).outlier_share == 0.0


def test_few_blocks_are_taken_whole_and_said_to_be_few():
    steady = find_steady([3.0, 1.0, 1.0])
    assert (steady.first, steady.blocks, steady.is_steady) == (0, 3, False)
    assert "only 3 blocks" in steady.reason
    assert find_steady([2.0]).median_error is None


@pytest.mark.parametrize("times", [[], [1.0, 0.0], [1.0, float("nan")], [1.0, float("inf")], [[1.0]], [-1.0]])
def test_times_that_are_none_are_refused(times):
    with pytest.raises(ValueError, match="block times"):
        find_steady(times)


@given(st.lists(st.floats(0.5, 2.0), min_size=1, max_size=60), st.floats(1e-6, 1e6))
def test_the_unit_of_time_does_not_matter(times, factor):
    one, other = find_steady(times), find_steady(np.array(times) * factor)
    if one.first == other.first:  # rounding can move the cut between two equally good places
        assert other.median_s == pytest.approx(one.median_s * factor)
        assert other.blocks == one.blocks
    assert one.first <= len(times) // 2


def test_the_error_of_the_median_is_about_what_repeated_runs_show():
    rng = np.random.default_rng(1)
    runs = rng.normal(0, 1, (300, 64))
    seen = np.std(np.median(runs, axis=1))
    told = np.mean([median_error(run) for run in runs])
    assert told == pytest.approx(seen, rel=0.15)


def test_the_error_of_the_median_grows_when_neighbours_are_alike():
    rng = np.random.default_rng(2)
    independent = rng.normal(0, 1, 160)
    alike = np.repeat(rng.normal(0, 1, 16), 10)
    assert median_error(alike) > 2 * median_error(independent)
