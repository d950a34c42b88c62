"""When a worker counts as lost."""

from typing import Any

from steptime.launch.group_launcher import limits_of
from steptime.launch.vital_signs import Limits, VitalSigns
from steptime.plan.plan import Protocol

LIMITS = Limits(silent_s=10.0, start_s=100.0, stuck_s=50.0)


def signs(*, ranks: int = 3) -> VitalSigns:
    return VitalSigns(range(ranks), LIMITS, 0.0)


def tell(told: VitalSigns, now_s: float, *ranks: int, kind: str = "beat", **fields: Any) -> None:
    for rank in ranks:
        told.heard(rank, {"kind": kind, **fields}, now_s)


def test_workers_that_beat_are_well() -> None:
    told = signs()
    tell(told, 0, 0, 1, 2, kind="phase", name="train")
    for now_s in range(40):
        tell(told, now_s, 0, 1, 2)
        assert told.loss(now_s) is None


def test_a_silent_worker_is_named_after_the_limit_and_not_before() -> None:
    told = signs()
    tell(told, 0, 0, 1, 2, kind="phase", name="train")
    tell(told, 5, 1, kind="progress", epoch=2, step=40)
    tell(told, 15, 0, 2)
    assert told.loss(15.0) is None
    loss = told.loss(15.1)
    assert loss is not None
    assert loss.rank == 1
    assert loss.reason == "worker 1 gave no sign of life for 10 s in phase 'train', epoch 3 step 40"


def test_a_worker_may_be_silent_for_longer_while_it_imports() -> None:
    told = signs()
    tell(told, 1, 2, kind="phase", name="import")
    tell(told, 95, 0, 1)
    assert told.loss(101.0) is None
    loss = told.loss(101.5)
    assert loss is not None
    assert loss.rank == 2


def test_a_killed_worker_is_named_before_those_that_failed_because_of_it() -> None:
    told = signs()
    told.ended(0, 3)
    told.ended(2, -9)
    loss = told.loss(1.0)
    assert loss is not None
    assert (loss.rank, loss.wrong_use) == (2, False)
    assert "SIGKILL" in loss.reason


def test_wrong_use_is_told_apart_from_failure() -> None:
    told = signs()
    told.ended(1, 2)
    loss = told.loss(1.0)
    assert loss is not None
    assert loss.wrong_use


def test_ended_workers_need_not_beat() -> None:
    told = signs(ranks=2)
    tell(told, 0, 0, 1, kind="phase", name="train")
    told.ended(1, 0)
    tell(told, 20, 0)
    assert told.loss(25.0) is None
    told.ended(0, 0)
    assert told.all_ended


def test_before_the_first_block_training_may_take_any_time() -> None:
    told = signs(ranks=2)
    tell(told, 0, 0, 1, kind="phase", name="train")
    for now_s in range(0, 1000, 5):
        tell(told, now_s, 0, 1)
        assert told.loss(now_s) is None


def test_a_validation_that_goes_on_is_no_standstill() -> None:
    told = signs(ranks=2)
    tell(told, 0, 0, 1, kind="phase", name="train")
    tell(told, 1, 0, 1, kind="progress", epoch=0, step=9)
    tell(told, 1, 0, 1, kind="phase", name="validate")
    for now_s in range(1, 1000, 5):
        tell(told, now_s, 0, 1, kind="validation", step=now_s)
        assert told.loss(now_s) is None


def test_the_limits_are_those_of_the_plan() -> None:
    limits = limits_of(Protocol(silent_limit_s=7.0, stuck_limit_s=900.0))
    assert (limits.silent_s, limits.stuck_s) == (7.0, 900.0)


def test_workers_that_wait_for_each_other_for_ever_are_noticed() -> None:
    told = signs(ranks=2)
    tell(told, 0, 0, 1, kind="phase", name="train")
    tell(told, 0, 0, 1, kind="progress", epoch=0, step=9)
    for now_s in range(0, 51, 5):
        tell(told, now_s, 0, 1)
        assert told.loss(now_s) is None
    tell(told, 51, 0, 1)
    loss = told.loss(51.0)
    assert loss is not None
    assert loss.rank is None
    assert "do not reach each other" in loss.reason


def test_a_worker_that_beats_and_hangs_before_training_is_named_while_others_wait() -> None:
    told = signs(ranks=2)
    tell(told, 0, 0, 1, kind="phase", name="data")
    for now_s in range(0, 101, 5):
        tell(told, now_s, 0, 1)
        assert told.loss(now_s) is None, "nobody waits for it: data may take their time"
    tell(told, 100, 0, kind="phase", name="train")
    for now_s in range(100, 151, 5):
        tell(told, now_s, 0, 1)
        assert told.loss(now_s) is None
    tell(told, 151, 0, 1)
    loss = told.loss(151.0)
    assert loss is not None
    assert loss.rank == 1
    assert loss.reason == "worker 1 tells nothing in phase 'data', and others have waited for 51 s"


def test_a_worker_that_does_not_join_is_named() -> None:
    told = signs(ranks=2)
    tell(told, 1, 0, kind="phase", name="join")
    tell(told, 1, 1, kind="phase", name="start")
    for now_s in range(1, 105, 5):
        tell(told, now_s, 0, 1)
    loss = told.loss(104.0)
    assert loss is not None
    assert "missing: 1" in loss.reason
