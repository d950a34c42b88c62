"""When a checkpoint is due."""

from steptime.engine.checkpoints.rhythm import Rhythm
from steptime.plan.cadence import Every, parse_every


def rhythm(text: str) -> Rhythm:
    every = parse_every(text)
    assert every is not None
    return Rhythm(every, 0.0, 0)


def test_a_time_is_over_when_it_is_over() -> None:
    due = rhythm("5m")

    assert not due.is_due(299.0, 10**9)
    assert due.is_due(300.0, 1)

    due.taken(310.0, 1)
    assert not due.is_due(600.0, 1)
    assert due.is_due(610.0, 1)


def test_steps_bound_how_many_run_in_one_piece_so_that_none_is_passed_over() -> None:
    due = rhythm("200steps")

    assert due.limit(0) == 200
    assert due.limit(150) == 50
    assert not due.is_due(1e9, 199)
    assert due.is_due(0.0, 200)

    due.taken(0.0, 200)
    assert due.limit(200) == 200


def test_epochs_are_counted_from_the_beginning_of_the_training() -> None:
    due = rhythm("2epochs")

    assert [due.is_due_at_epoch(0.0, 0, n, 0.0) for n in (1, 2, 3, 4)] == [False, True, False, True]
    assert not due.is_due(1e9, 10**9)
    assert due.limit(5) is None


def test_auto_passes_over_ends_of_epochs_that_would_cost_more_than_a_hundredth_of_the_time() -> None:
    due = Rhythm(Every(seconds_s=300.0, epochs=1, thrifty=True), 0.0, 0)

    assert due.is_due_at_epoch(0.1, 10, 1, 0.0)  # nothing is known of the cost yet

    due.taken(0.1, 10)
    assert not due.is_due_at_epoch(2.0, 20, 2, 0.05)
    assert due.is_due_at_epoch(5.2, 30, 3, 0.05)
