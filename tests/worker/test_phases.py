"""The phases of a run."""

from pathlib import Path

import pytest

from steptime.record.events import EventWriter, read_events
from steptime.record.schema import Phase
from steptime.worker.phases import PhaseClock


@pytest.fixture
def clock(tmp_path: Path) -> PhaseClock:
    events = EventWriter(tmp_path)
    yield PhaseClock(events)  # type: ignore[misc]
    events.close()


def test_a_phase_is_announced_and_timed_also_when_it_fails(clock: PhaseClock, tmp_path: Path) -> None:
    with pytest.raises(LookupError), clock.phase("data"):
        raise LookupError

    assert [(event["name"], event["words"]) for event in read_events(tmp_path)] == [("data", "loading data")]
    assert [phase.name for phase in clock.phases] == ["data"]
    assert clock.current == "data"


def test_a_phase_is_split_into_parts_that_add_up_to_it(clock: PhaseClock) -> None:
    clock.add("data", 5)
    clock.add("train", 100)
    clock.add("save", 7)
    clock.split("train", {"warmup": 30, "validate": 0})

    assert clock.phases == (
        Phase(name="data", duration_ns=5),
        Phase(name="warmup", duration_ns=30),
        Phase(name="train", duration_ns=70),
        Phase(name="save", duration_ns=7),
    )


def test_parts_longer_than_the_whole_leave_nothing_not_less(clock: PhaseClock) -> None:
    clock.add("train", 100)
    clock.split("train", {"warmup": 130})

    assert clock.phases[-1] == Phase(name="train", duration_ns=0)
