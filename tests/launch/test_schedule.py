"""Which run comes next, without any process."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.errors import UsageError
from steptime.launch.schedule import MAX_REPEATS, Done, Limits, Start, Stop, is_round_over, next_step


def run(
    arms: int,
    limits: Limits,
    *,
    durations: list[float],
    fails: dict[int, str] | None = None,
    clear_after: int = 99,
):
    """Execute a schedule with given durations per arm; ``fails`` maps the number of a run to its status."""
    done: list[Done] = []
    while True:
        is_clear = is_round_over(arms, done) and len(done) >= clear_after
        step = next_step(arms, done, limits, is_clear=is_clear)
        if isinstance(step, Stop):
            return [item.arm for item in done], step.reason
        status = (fails or {}).get(len(done), "ok")
        done.append(Done(arm=step.arm, duration_s=durations[step.arm], status=status))


def test_arms_take_turns_there_and_back() -> None:
    order, reason = run(2, Limits(repeats=4), durations=[1, 1])

    assert order == [0, 1, 1, 0, 0, 1, 1, 0]
    assert reason == "every arm was run 4 times"


def test_three_arms_take_turns_too() -> None:
    assert run(3, Limits(repeats=2), durations=[1, 1, 1])[0] == [0, 1, 2, 2, 1, 0]


@given(st.integers(2, 5), st.integers(1, 5))
def test_a_steady_drift_hits_all_arms_alike(arms: int, pairs: int) -> None:
    order, _ = run(arms, Limits(repeats=2 * pairs, budget_s=None), durations=[1] * arms)
    places = [[place for place, arm in enumerate(order) if arm == number] for number in range(arms)]

    assert len({sum(own) for own in places}) == 1


def test_it_stops_as_soon_as_the_answer_is_clear() -> None:
    order, reason = run(2, Limits(), durations=[1, 1], clear_after=6)

    assert len(order) == 6
    assert "clear after 3 runs" in reason


def test_an_answer_is_never_clear_after_one_round() -> None:
    assert len(run(2, Limits(), durations=[1, 1], clear_after=0)[0]) == 4


def test_asked_for_repeats_are_run_even_if_the_answer_is_clear() -> None:
    assert len(run(2, Limits(repeats=3, budget_s=None), durations=[1, 1], clear_after=0)[0]) == 6


def test_no_round_is_begun_that_would_not_end_within_the_budget() -> None:
    order, reason = run(2, Limits(budget_s=100), durations=[10, 20])

    assert len(order) == 6  # 90 s; a fourth round would end at 120 s
    assert "time budget of 100 s" in reason


def test_two_rounds_are_run_whatever_they_take() -> None:
    assert run(2, Limits(budget_s=1), durations=[500, 500])[0] == [0, 1, 1, 0]


def test_it_ends_by_itself_when_nothing_becomes_clear() -> None:
    assert len(run(2, Limits(budget_s=None), durations=[1, 1])[0]) == 2 * MAX_REPEATS


def test_an_arm_that_fails_is_not_run_again_and_the_others_go_on() -> None:
    order, reason = run(3, Limits(repeats=3, budget_s=None), durations=[1, 1, 1], fails={1: "failed"})

    assert order == [0, 1, 2, 2, 0, 0, 2]
    assert "3 times" in reason


def test_a_lonely_arm_is_run_as_often_as_an_interval_needs() -> None:
    order, reason = run(2, Limits(), durations=[1, 1], fails={0: "failed"})

    assert order == [0, 1, 1]
    assert "fewer than two arms" in reason


def test_nothing_is_run_after_all_arms_failed() -> None:
    assert run(2, Limits(), durations=[1, 1], fails={0: "failed", 1: "failed"})[0] == [0, 1]


def test_an_interruption_ends_it() -> None:
    order, reason = run(2, Limits(), durations=[1, 1], fails={1: "interrupted"})

    assert order == [0, 1]
    assert "interrupted" in reason


def test_the_first_step_is_the_first_arm() -> None:
    assert next_step(2, [], Limits(), is_clear=False) == Start(arm=0, repeat=0)


@pytest.mark.parametrize("limits", [{"repeats": 1}, {"repeats": 0}, {"budget_s": 0.0}, {"budget_s": -5.0}])
def test_limits_that_cannot_be_kept_are_refused(limits: dict) -> None:
    with pytest.raises(UsageError):
        Limits(**limits)
