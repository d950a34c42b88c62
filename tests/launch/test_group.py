"""Groups watched and started again; the workers are played."""

import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from steptime.launch.attempts import attempts_of
from steptime.launch.group import GroupWatch, Member
from steptime.launch.group_launcher import GroupLauncher
from steptime.launch.retry import next_start
from steptime.launch.stopping import StopRequest
from steptime.launch.vital_signs import Limits
from steptime.plan.plan import Plan, Protocol
from steptime.record.events import read_events
from steptime.record.schema import Fault, Outcome, RunRecord
from steptime.record.store import create_member_folder, create_run_folder, member_folder, write_record
from steptime.testing import make_plan, make_record

pytestmark = pytest.mark.slow

LIMITS = Limits(silent_s=0.5, start_s=5.0, stuck_s=5.0)


class Played:
    """A worker that writes the given events, one a look, and then ends with a code; without one it goes on."""

    def __init__(
        self, rank: int, events: Sequence[dict[str, Any]] = (), code: int | None = 0, end: Any = None
    ):
        self.rank = rank
        self._events = list(events)
        self._code = code
        self._end = end
        self.asked = 0
        self.killed = False

    def poll(self) -> int | None:
        if self.killed:
            return -9 if self._code is None else self._code
        if self._events:
            return None
        if self._code is not None and self._end is not None:
            self._end()
            self._end = None
        return self._code

    def new_events(self) -> Iterator[dict[str, Any]]:
        if self._events:
            yield self._events.pop(0)
        elif self._code is None and self._end != "silent":
            yield {"kind": "beat"}

    def stop(self) -> None:
        self.asked += 1
        self._code = 130

    def kill(self) -> None:
        self.killed = True


BEATS = [{"kind": "phase", "name": "train"}, {"kind": "beat"}]


def watch(members: Sequence[Member], **more: Any) -> GroupWatch:
    return GroupWatch(members=members, limits=LIMITS, stop=more.pop("stop", StopRequest()), **more)


def test_a_group_ends_when_all_have_ended_and_the_chief_is_heard() -> None:
    heard: list[Any] = []
    members = [
        Played(0, [*BEATS, {"kind": "note", "text": "chief"}]),
        Played(1, [{"kind": "note", "text": "x"}]),
    ]
    end = watch(members).run(heard.append)
    assert end.loss is None
    assert heard == [BEATS[0], {"kind": "note", "text": "chief"}]


def test_a_dead_worker_ends_the_others() -> None:
    members = [Played(0, code=None), Played(1, BEATS, code=-9), Played(2, code=None)]
    end = watch(members).run(lambda event: None)
    assert end.loss is not None
    assert end.loss.rank == 1
    assert all(member.killed for member in members)


def test_a_stopped_worker_is_noticed_within_the_limit() -> None:
    members = [Played(0, code=None), Played(1, BEATS, code=None, end="silent")]
    end = watch(members).run(lambda event: None)
    assert end.loss is not None
    assert end.loss.rank == 1
    assert end.noticed_s >= LIMITS.silent_s


def test_a_request_to_stop_reaches_every_worker_once() -> None:
    stop = StopRequest(reason="interrupted", signals=1)
    members = [Played(0, code=None), Played(1, code=None)]
    assert watch(members, stop=stop).run(lambda event: None).loss is None
    assert [member.asked for member in members] == [1, 1]


def test_workers_that_do_not_stop_are_killed() -> None:
    class Deaf(Played):
        def stop(self) -> None:
            self.asked += 1

    stop = StopRequest(reason="interrupted", signals=1)
    members = [Deaf(0, code=None), Deaf(1, code=None)]
    watch(members, stop=stop, grace_s=0.1).run(lambda event: None)
    assert all(member.killed for member in members)


@pytest.fixture
def plan() -> Plan:
    import dataclasses

    return dataclasses.replace(make_plan(workers=2), protocol=Protocol(retries=2))


@pytest.fixture
def folder(tmp_path: Path, plan: Plan) -> Path:
    return create_run_folder(tmp_path, "train", plan)


def ends(folder: Path, rank: int, outcome: Outcome) -> Any:
    record = make_record(run_id=folder.name, outcome=outcome)
    return lambda: write_record(member_folder(folder, rank), record)


WELL = Outcome(status="ok", phase="save")


def launch(plan: Plan, folder: Path, attempts: list[list[Played]]) -> tuple[RunRecord, list[Any], list[int]]:
    """Play the attempts one after the other; also returns what was said and the sizes of the groups."""
    sizes: list[int] = []
    heard: list[Any] = []

    @contextmanager
    def start(plan: Plan, folder: Path, workers: int) -> Iterator[Sequence[Member]]:
        sizes.append(workers)
        for rank in range(workers):
            create_member_folder(folder, plan, rank)
        yield attempts.pop(0)

    record = GroupLauncher(start, LIMITS).launch(plan, folder, heard.append)
    return record, heard, sizes


def test_a_lost_worker_starts_the_group_again(plan: Plan, folder: Path) -> None:
    lost = [Played(0, code=None), Played(1, BEATS, code=-9)]
    well = [Played(0, BEATS, end=ends(folder, 0, WELL)), Played(1, BEATS)]
    record, heard, _ = launch(plan, folder, [lost, well])
    assert record.outcome.status == "ok"
    notes = [event["text"] for event in heard if event["kind"] == "note"]
    assert len(notes) == 1
    assert notes[0].startswith("worker 1 was ended by SIGKILL in phase 'train': noticed ")
    assert notes[0].endswith("all workers: starting again (retry 1 of 2)")
    (attempt,) = [event["attempt"] for event in read_events(folder) if event["kind"] == "attempt"]
    assert attempt["reason"] == "worker 1 was ended by SIGKILL in phase 'train'"


def test_the_record_of_a_lost_group_says_which_worker_and_its_last_words(plan: Plan, folder: Path) -> None:
    def words() -> None:
        (member_folder(folder, 1) / "worker.log").write_text("before\nout of cheese\n")

    attempts = [[Played(0, code=None), Played(1, BEATS, code=-9, end=words)] for _ in range(3)]
    record, _, sizes = launch(plan, folder, attempts)
    assert record.outcome.status == "failed"
    assert record.outcome.reason == "worker 1 was ended by SIGKILL in phase 'train'"
    assert record.outcome.log_tail == ("before", "out of cheese")
    assert record.outcome.exit_code == 3
    assert sizes == [2, 2, 2]


def test_a_worker_lost_twice_is_left_out_where_that_is_allowed(folder: Path) -> None:
    import dataclasses

    plan = dataclasses.replace(make_plan(workers=3), protocol=Protocol(retries=2, min_workers=2))
    lost = [[Played(0, code=None), Played(1, BEATS, code=-9), Played(2, code=None)] for _ in range(2)]
    well = [Played(0, BEATS, end=ends(folder, 0, WELL)), Played(1, BEATS)]
    record, heard, sizes = launch(plan, folder, [*lost, well])
    assert sizes == [3, 3, 2]
    assert record.outcome.status == "ok"
    assert any("2 of 3 workers: starting again" in event.get("text", "") for event in heard)


def test_wrong_use_is_not_tried_again_and_is_told_in_the_workers_own_words(plan: Plan, folder: Path) -> None:
    wrong = Outcome(status="failed", phase="data", reason="The data must differ", hint="Look.", exit_code=2)
    (folder / "workers" / "1").mkdir(parents=True)
    attempt = [Played(0, code=None), Played(1, BEATS, code=2, end=ends(folder, 1, wrong))]
    record, heard, sizes = launch(plan, folder, [attempt])
    assert sizes == [2]
    assert record.outcome.reason == "worker 1: The data must differ"
    assert record.outcome.exit_code == 2
    assert not [event for event in heard if event["kind"] == "note"]


@pytest.mark.parametrize(
    ("reason", "fault", "again"),
    [
        ("ValueError: out of cheese", None, False),
        ("the loss must be finite", Fault(kind="not finite"), False),
        ("reading batch 3 failed", Fault(kind="data"), False),
        ("UnavailableError: Connection reset by peer", None, True),
        ("segmentation fault", Fault(kind="crashed"), True),
    ],
)
def test_a_group_starts_again_after_what_a_single_run_does(
    plan: Plan, folder: Path, reason: str, fault: Fault | None, again: bool
) -> None:
    failed = Outcome(status="failed", phase="train", reason=reason, exit_code=3, fault=fault)
    attempts = [
        [Played(0, code=None), Played(1, BEATS, code=3, end=ends(folder, 1, failed))] for _ in range(3)
    ]
    (folder / "workers" / "1").mkdir(parents=True)
    record, _, sizes = launch(plan, folder, attempts)
    assert len(sizes) == (3 if again else 1)
    assert record.outcome.reason == f"worker 1: {reason}"
    assert next_start(plan, record.outcome, attempts_of(folder)) is None, "nobody else begins it anew"


def test_the_time_limit_counts_all_starts_together(folder: Path) -> None:
    import dataclasses

    plan = dataclasses.replace(make_plan(workers=2), protocol=Protocol(retries=2, time_limit_s=1.0))

    def wait() -> None:
        time.sleep(0.9)

    lost = [Played(0, code=None), Played(1, BEATS, code=-9, end=wait)]
    begin_s = time.perf_counter()
    record, _, sizes = launch(plan, folder, [lost, [Played(0, code=None), Played(1, code=None)]])
    assert sizes == [2, 2]
    assert "time limit" in str(record.outcome.reason)
    assert time.perf_counter() - begin_s < 1.8


def test_ctrl_c_during_a_group_is_no_loss(plan: Plan, folder: Path) -> None:
    interrupted = Outcome(status="interrupted", phase="train", reason="stopped by a signal", exit_code=130)

    class Interrupts(Played):
        def new_events(self) -> Iterator[dict[str, Any]]:
            signal.raise_signal(signal.SIGINT)
            return iter(())

    class Ends(Interrupts):
        def stop(self) -> None:
            ends(folder, 0, interrupted)()
            super().stop()

    record, _, sizes = launch(plan, folder, [[Ends(0, code=None), Played(1, code=None)]])
    assert sizes == [2]
    assert record.outcome.status == "interrupted"
