import numpy as np
import pytest

from steptime.analysis.bootstrap import block_interval, ratio_of_medians_interval, repeats_interval


def runs(n, seed=0, level=1.0, spread=0.015, blocks=40):
    rng = np.random.default_rng(seed)
    return [level * np.exp(rng.normal(0, spread) + rng.normal(0, 0.02, blocks)) for _ in range(n)]


def test_the_same_data_give_the_same_interval_and_another_seed_another():
    a, b = runs(4), runs(4, seed=1)
    assert ratio_of_medians_interval(a, b) == ratio_of_medians_interval(a, b)
    assert ratio_of_medians_interval(a, b) != ratio_of_medians_interval(a, b, seed=1)


def test_the_ratio_lies_inside_its_interval_and_near_the_truth():
    interval = ratio_of_medians_interval(runs(8), runs(8, seed=1, level=1.2))
    assert interval.low < interval.value < interval.high
    assert interval.low < 1.2 < interval.high


def test_scaling_all_times_changes_nothing():
    a, b = runs(5), runs(5, seed=1)
    one = ratio_of_medians_interval(a, b)
    other = ratio_of_medians_interval([run * 1000 for run in a], [run * 1000 for run in b])
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))


def test_the_spread_between_repeats_counts_and_not_only_that_within():
    alike, different = repeats_interval(runs(8, spread=0.0)), repeats_interval(runs(8, spread=0.1))
    assert different.high / different.low > alike.high / alike.low


def test_an_interval_over_the_blocks_of_one_run_is_about_as_wide_as_runs_without_spread_differ():
    medians = np.array([np.median(run) for run in runs(400, spread=0.0)])
    interval = block_interval(runs(1, spread=0.0)[0])
    assert interval.high - interval.low == pytest.approx(4 * medians.std(), rel=0.6)


def test_neighbours_that_are_alike_widen_the_interval():
    rng = np.random.default_rng(0)
    independent = np.exp(rng.normal(0, 0.02, 512))
    alike = np.exp(np.repeat(rng.normal(0, 0.02, 64), 8))
    one, other = block_interval(independent), block_interval(alike)
    assert other.high / other.low - 1 > 1.4 * (one.high / one.low - 1)


@pytest.mark.parametrize("blocks", [1, 2, 7, 3000])
def test_runs_of_any_length_are_taken(blocks):
    interval = repeats_interval(runs(2, blocks=blocks), resamples=100)
    assert interval.low <= interval.value <= interval.high


def test_two_repeats_never_reach_beyond_their_own_values():
    # This is why verdicts do not use it: see steptime.analysis.interval.
    a = [np.full(10, 1.0), np.full(10, 1.02)]
    interval = repeats_interval(a)
    assert 1.0 <= interval.low <= interval.high <= 1.02
