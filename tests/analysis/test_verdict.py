import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.analysis.steady import SteadyState
from steptime.analysis.verdict import DEFAULT_REPEATS, EARLY_CONFIDENCE, Repeat, judge

MIRROR = {"faster": "slower", "slower": "faster", "same": "same", "cannot tell": "cannot tell"}


def repeat(median_s, error=0.003, reason=None, other_work=None, throttled=None):
    steady = SteadyState(
        first=2,
        blocks=40,
        is_steady=reason is None,
        reason=reason,
        median_s=median_s,
        median_error=error,
        outlier_share=0.0,
        stall_share=0.0,
    )
    return Repeat(steady=steady, other_work_share=other_work, throttled_share=throttled)


def arm(*medians, **facts):
    return [repeat(median, **facts) for median in medians]


SLOW, QUICK = arm(1.10, 1.11, 1.09), arm(1.00, 1.01, 0.99)


def test_a_clear_difference_is_called_from_the_baselines_side():
    verdict = judge(SLOW, QUICK)
    assert verdict.kind == "faster"
    assert verdict.speed_ratio.value == pytest.approx(1.1, rel=0.01)
    assert verdict.time_ratio.value == pytest.approx(1 / 1.1, rel=0.01)
    assert verdict.reasons == ()
    assert judge(QUICK, SLOW).kind == "slower"


def test_a_difference_below_one_per_cent_is_never_called():
    base, other = arm(*[1.0, 1.0001, 0.9999] * 3), arm(*[1.008, 1.0081, 1.0079] * 3)  # error of 0.3 % within
    assert judge(base, other).kind == "same"
    assert judge(base, arm(*[1.016, 1.0161, 1.0159] * 3)).kind == "slower"


def test_wide_spread_cannot_be_told_and_the_runs_that_stray_are_named():
    verdict = judge(arm(1.0, 1.01, 0.99), arm(1.0, 1.3, 1.0))
    assert verdict.kind == "cannot tell"
    assert "with 3 and 3 runs the ratio may be anything from" in verdict.reasons[0]
    assert "one run of the arm lies +30 % from its median" in verdict.reasons[1]


def test_single_runs_tell_a_large_difference_and_not_a_small_one():
    large = judge(arm(1.0), arm(0.1))
    assert large.kind == "faster"
    assert "one run only" in large.cautions[0]
    assert judge(arm(1.0), arm(1.1)).kind == "cannot tell"


def test_an_arm_without_a_good_run_cannot_be_told():
    verdict = judge([], QUICK)
    assert verdict.kind == "cannot tell"
    assert verdict.time_ratio is None
    assert verdict.speed_ratio is None
    assert "baseline has no run" in verdict.reasons[0]
    assert "arm has no run" in judge(QUICK, []).reasons[0]


def test_a_slow_down_that_other_work_explains_cannot_be_told():
    quiet = arm(1.0, 1.01, 0.99, other_work=0.05)
    busy = arm(1.10, 1.11, 1.09, other_work=0.30)
    verdict = judge(quiet, busy)
    assert verdict.kind == "cannot tell"
    assert "others used 25 % more of the machine" in verdict.reasons[0]
    assert judge(quiet, arm(9.0, 9.1, 8.9, other_work=0.30)).kind == "slower"  # far more than it explains
    assert judge(busy, arm(1.0, 1.01, 0.99, other_work=0.30)).kind == "faster"  # both were disturbed alike
    assert (
        judge(quiet, arm(0.8, 0.81, 0.79, other_work=0.30)).kind == "faster"
    )  # it was slowed, and still is faster


def test_a_busy_machine_is_named_when_nothing_can_be_told():
    verdict = judge(arm(1.0, 1.2, other_work=0.6), arm(1.1, 1.3, other_work=0.6))
    assert verdict.kind == "cannot tell"
    assert "others used 60 % of the machine meanwhile" in verdict.reasons


def test_unsteady_and_throttled_runs_are_cautions():
    verdict = judge(SLOW, arm(1.0, 1.01, 0.99, reason="steps still became 9 % longer", throttled=0.4))
    assert verdict.kind == "faster"
    assert verdict.cautions == (
        "3 of 3 runs of the arm not steady: steps still became 9 % longer",
        "the arm's device was slowed down 40 % of the time",
    )


def test_an_early_look_asks_for_more():
    base, other = arm(1.0, 1.02), arm(1.15, 1.17)
    assert judge(base, other).kind == "slower"
    assert judge(base, other, EARLY_CONFIDENCE).kind == "cannot tell"


arms = st.lists(
    st.builds(
        repeat,
        st.floats(0.8, 1.25),
        st.floats(0, 0.01),
        st.none(),
        st.one_of(st.none(), st.floats(0, 1)),
        st.one_of(st.none(), st.floats(0, 1)),
    ),
    min_size=1,
    max_size=7,
)


@given(arms, arms)
def test_swapping_the_arms_mirrors_the_verdict(a, b):
    one, other = judge(a, b), judge(b, a)
    assert other.kind == MIRROR[one.kind]
    assert other.speed_ratio.value == pytest.approx(one.time_ratio.value)


@given(arms, arms, st.floats(1e-6, 1e6))
def test_scaling_all_times_changes_nothing(a, b, factor):
    def scaled(repeats):
        return [
            repeat(
                item.steady.median_s * factor,
                item.steady.median_error,
                None,
                item.other_work_share,
                item.throttled_share,
            )
            for item in repeats
        ]

    assert judge(scaled(a), scaled(b)).kind == judge(a, b).kind


@given(arms, arms, st.randoms())
def test_the_order_of_repeats_changes_nothing(a, b, random):
    shuffled = judge(random.sample(a, len(a)), random.sample(b, len(b)))
    assert (shuffled.kind, shuffled.reasons) == (judge(a, b).kind, judge(a, b).reasons)


def noise(kind, runs, rng):
    """Logarithms of the slowness of runs in their order: what a shared machine does, see benchmarks/verdicts.py."""
    place = np.arange(runs)
    normal = rng.normal(0, 0.015, runs)
    return {
        "normal": normal,
        "drift": normal + rng.normal(0, 0.05) * place / runs,
        "step": normal + 0.1 * (place >= rng.integers(0, runs)),
        "walk": normal + np.cumsum(rng.normal(0, 0.01, runs)),
        "heavy tails": 0.01 * rng.standard_t(2, runs),
        "bad runs": normal + (rng.random(runs) < 0.1) * rng.uniform(0.05, 0.3, runs),
    }[kind]


def compare(kind, n, slower, rng):
    logs = noise(kind, 2 * n, rng)
    is_other = np.array([arm for pair in range(n) for arm in ((0, 1) if pair % 2 == 0 else (1, 0))]) == 1
    times = np.exp(logs + slower * is_other)
    return judge(arm(*times[~is_other]), arm(*times[is_other])).kind


@pytest.mark.parametrize("kind", ["normal", "drift", "step", "walk", "heavy tails", "bad runs"])
@pytest.mark.slow
def test_an_arm_compared_with_itself_is_found_different_in_at_most_5_per_cent(kind):
    rng = np.random.default_rng(7)
    found = [compare(kind, n, 0.0, rng) for n in range(2, 9) for _ in range(60)]
    false = np.isin(found, ("faster", "slower")).mean()
    # 6 kinds of 420 comparisons; the rate is near 1 %, so that even each kind alone keeps to the limit.
    assert false <= 0.05


@pytest.mark.parametrize("kind", ["normal", "drift", "walk"])
@pytest.mark.slow
def test_a_tenth_slower_is_found_in_at_least_90_per_cent_at_the_default_number_of_repeats(kind):
    rng = np.random.default_rng(8)
    found = [compare(kind, DEFAULT_REPEATS, math.log(1.1), rng) for _ in range(200)]
    assert np.mean(np.array(found) == "slower") >= 0.9


@pytest.mark.slow
def test_stopping_early_at_the_stricter_level_keeps_false_differences_rare():
    rng = np.random.default_rng(9)
    false = 0
    for _ in range(150):
        logs = noise("walk", 16, rng)
        base, other = arm(*np.exp(logs[::2])), arm(*np.exp(logs[1::2]))
        looks = [judge(base[:n], other[:n], EARLY_CONFIDENCE if n < 8 else 0.95).kind for n in range(2, 9)]
        false += any(look in ("faster", "slower") for look in looks)
    assert false <= 0.05 * 150
