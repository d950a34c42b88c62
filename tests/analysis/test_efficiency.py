"""The measured share of a perfect speed-up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.analysis.comparison import Comparison, compare
from steptime.analysis.efficiency import scaling_efficiency
from steptime.analysis.interval import Interval
from steptime.analysis.verdict import Verdict
from steptime.plan.arm import parse_arm
from steptime.testing import make_record, make_run

counts = st.integers(1, 64)


def verdict(time_ratio: float) -> Verdict:
    ratio = Interval(
        value=time_ratio, low=0.9 * time_ratio, high=1.1 * time_ratio, confidence=0.95, is_assumed=False
    )
    return Verdict(kind="faster", time_ratio=ratio, reasons=(), cautions=())


def compared(*arms: tuple[str, float, int]) -> Comparison:
    """Arms by their text, seconds a step, and devices."""
    runs = []
    for text, step_s, replicas in arms:
        group = {"strategy": "mirrored", "replicas": replicas} if replicas > 1 else None
        record = make_record(group=group)
        runs.append(
            (parse_arm(text), [make_run(record, step_s=step_s, seed=seed, noise=0.001) for seed in range(3)])
        )
    return compare(runs, arms[0][0].replace(",", " "))


def test_twice_as_fast_with_two_devices_is_perfect() -> None:
    share = scaling_efficiency(verdict(0.5), 1, 2)

    assert share is not None
    assert share.value == pytest.approx(1.0)
    assert share.low < 1 < share.high


@given(base=counts, own=counts, ratio=st.floats(0.01, 10))
def test_swapping_the_arms_inverts_the_share(base: int, own: int, ratio: float) -> None:
    there, back = (
        scaling_efficiency(verdict(ratio), base, own),
        scaling_efficiency(verdict(1 / ratio), own, base),
    )

    if base == own:
        assert (there, back) == (None, None)
    else:
        assert there is not None
        assert back is not None
        assert there.value * back.value == pytest.approx(1.0)


@pytest.mark.parametrize(("base", "own"), [(None, 2), (1, None), (2, 2)])
def test_what_has_no_further_devices_has_no_share(base: int | None, own: int | None) -> None:
    assert scaling_efficiency(verdict(0.5), base, own) is None
    assert scaling_efficiency(None, 1, 2) is None


def test_a_comparison_says_how_well_devices_scale() -> None:
    comparison = compared(
        ("gpu,devices=1", 0.010, 1), ("gpu,devices=2", 0.00625, 2), ("gpu,devices=4", 0.005, 4)
    )
    one, two, four = comparison.arms

    assert (one.replicas, two.replicas, four.replicas) == (1, 2, 4)
    assert one.efficiency is None
    assert two.efficiency is not None
    assert four.efficiency is not None
    assert two.efficiency.value == pytest.approx(0.8, abs=0.02)
    assert four.efficiency.value == pytest.approx(0.5, abs=0.02)


def test_runs_of_one_arm_with_unlike_devices_have_no_share() -> None:
    alone, together = make_run(make_record()), make_run(make_record(group={"replicas": 2}))
    comparison = compare([(parse_arm("cpu"), [alone]), (parse_arm("gpu"), [alone, together])], "cpu")

    assert comparison.arms[1].replicas is None
    assert comparison.arms[1].efficiency is None
