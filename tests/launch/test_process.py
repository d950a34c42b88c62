"""A worker's process, however it ends. The workers are small scripts that stand in for the real one."""

import dataclasses
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steptime.errors import RecordError
from steptime.launch.process import ProcessLauncher
from steptime.plan.workload import parse_workload
from steptime.record.schema import RunRecord
from steptime.record.store import LOG_FILE, create_run_folder, read_record, rewrite_plan
from steptime.testing import make_plan

pytestmark = pytest.mark.slow

BEGINNING = """
import os, signal, sys, time
from pathlib import Path
from steptime.record.events import EventWriter
from steptime.record.store import read_plan, write_record
from steptime.testing import make_record

folder = Path(sys.argv[1])
events = EventWriter(folder)
events.write("phase", name="train", words="training")


def leave_record(**changes):
    write_record(folder, make_record(read_plan(folder)[0], run_id=folder.name, **changes))

"""

Run = Callable[..., RunRecord]


def test_what_an_earlier_worker_wrote_is_no_evidence(run: "Run", folder: Path) -> None:
    (folder / LOG_FILE).write_text("OOM when allocating tensor\n" + "x" * 200_000 + "\n")

    record = run("os.kill(os.getpid(), signal.SIGKILL)")

    assert record.outcome.fault is not None
    assert record.outcome.fault.kind == "killed"
    assert record.outcome.log_tail == ()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return create_run_folder(tmp_path / "runs", "train", make_plan())


@pytest.fixture
def run(tmp_path: Path, folder: Path) -> Run:
    """Runs a stand-in worker and returns what the launcher makes of it."""

    def run(
        body: str, *, time_limit_s: float | None = None, grace_s: float = 10.0, on_event: Any = None
    ) -> RunRecord:
        script = tmp_path / "worker.py"
        script.write_text(BEGINNING + body, encoding="utf-8")
        plan = make_plan()
        plan = dataclasses.replace(
            plan, protocol=dataclasses.replace(plan.protocol, time_limit_s=time_limit_s)
        )
        launcher = ProcessLauncher((sys.executable, str(script)), grace_s)
        return launcher.launch(plan, folder, on_event or (lambda event: None))

    return run


def test_a_file_named_like_a_library_does_not_keep_a_worker_from_starting(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise RuntimeError('imported')\n")
    (tmp_path / "jobs").mkdir()
    job = tmp_path / "jobs" / "job.py"
    job.write_text("def load_data():\n    raise RuntimeError('the job itself')\n\ndef create_model(): ...\n")
    plan = dataclasses.replace(make_plan(), workload=parse_workload(str(job)))
    rewrite_plan(folder, plan)
    monkeypatch.chdir(tmp_path)

    record = ProcessLauncher().launch(plan, folder, lambda event: None)

    assert "the job itself" in (record.outcome.reason or "")


def test_a_run_that_ends_well_gives_the_workers_own_record_and_all_events(run: Run, folder: Path) -> None:
    events: list[dict[str, Any]] = []
    record = run("events.write('note', text='end')\nleave_record(device='gpu:7')\n", on_event=events.append)

    assert (record.outcome.status, record.device) == ("ok", "gpu:7")
    assert [event["kind"] for event in events] == ["phase", "note"]
    assert record == read_record(folder)


def test_the_worker_sees_what_the_plan_says_and_talks_to_the_log_only(
    run: Run, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run("print(os.environ['CUDA_VISIBLE_DEVICES'])\nprint('noise', file=sys.stderr)\nleave_record()\n")

    assert (folder / LOG_FILE).read_text() == "--- a worker starts ---\n-1\nnoise\n"
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("number", "words"),
    [
        ("SIGKILL", "the worker was ended by SIGKILL in phase 'train'"),
        ("SIGSEGV", "the worker was ended by SIGSEGV in phase 'train'"),
        ("SIGRTMIN + 3", "the worker was ended by signal 37 in phase 'train'"),
    ],
)
def test_a_worker_that_a_signal_ends_leaves_a_record_by_the_launcher(
    run: Run, folder: Path, number: str, words: str
) -> None:
    record = run(f"import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
                 f"os.kill(os.getpid(), signal.{number}); time.sleep(9)\n")  # fmt: skip

    assert (record.outcome.status, record.outcome.reason, record.outcome.exit_code) == ("failed", words, 3)
    assert record.outcome.hint
    assert record.outcome.fault is not None
    assert record.outcome.fault.kind == "killed"
    assert record == read_record(folder)
    assert record.run_id == folder.name


def test_a_worker_that_ends_without_a_record_is_a_failure_with_its_last_words(run: Run, folder: Path) -> None:
    record = run("print('\\n'.join(f'line {i}' for i in range(40)))\nraise SystemExit('no more\\n')\n")

    assert record.outcome.reason == "the worker ended with exit code 1 in phase 'train': no more"
    assert record.outcome.log_tail[-2:] == ("line 39", "no more")
    assert len(record.outcome.log_tail) == 15
    assert record.outcome.exit_code == 3
    assert record == read_record(folder)


def test_a_worker_that_ends_well_but_without_a_record_is_a_failure(run: Run) -> None:
    assert run("").outcome.reason == "the worker ended with exit code 0 in phase 'train': it left no words"


def test_a_failure_that_the_worker_recorded_gets_the_end_of_its_log(run: Run, folder: Path) -> None:
    record = run(
        "from steptime.record.schema import Outcome\nprint('Traceback: why')\n"
        "leave_record(outcome=Outcome(status='failed', phase='data', reason='why', exit_code=2))\n"
    )

    assert (record.outcome.reason, record.outcome.exit_code) == ("why", 2)
    assert record.outcome.log_tail == ("Traceback: why",)
    assert record == read_record(folder)


def test_a_damaged_record_is_an_error_not_a_result(run: Run) -> None:
    with pytest.raises(RecordError, match="must be readable JSON"):
        run("(folder / 'run.json').write_text('{')\n")


IGNORES_REQUESTS = "signal.signal(signal.SIGINT, signal.SIG_IGN)\ntime.sleep(60)\n"


def test_a_hang_ends_at_the_time_limit_with_its_phase(run: Run, folder: Path) -> None:
    record = run(IGNORES_REQUESTS, time_limit_s=0.5, grace_s=0.1)

    assert record.outcome.status == "failed"
    assert record.outcome.reason == "the time limit was reached in phase 'train'"
    assert "--time-limit" in str(record.outcome.hint)
    assert record.outcome.exit_code == 3
    assert record == read_record(folder)


def test_what_a_worker_leaves_at_the_time_limit_is_kept_as_a_failed_run(run: Run, folder: Path) -> None:
    body = "try:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    leave_record(device='gpu:7')\n"
    record = run(body, time_limit_s=0.5)

    assert (record.outcome.status, record.outcome.exit_code, record.device) == ("failed", 3, "gpu:7")
    assert record == read_record(folder)


def test_a_killed_worker_takes_its_own_children_along(run: Run, folder: Path) -> None:
    run(
        "import subprocess\nchild = subprocess.Popen(['sleep', '60'])\n"
        f"(folder / 'child').write_text(str(child.pid))\n{IGNORES_REQUESTS}",
        time_limit_s=3,  # long enough to start a child on a busy machine
        grace_s=0.1,
    )
    state = Path(f"/proc/{(folder / 'child').read_text()}/stat")

    assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z" or gone_soon(state)


def gone_soon(state: Path) -> bool:
    """Whether a killed process disappears; nobody waits for an orphan but the system."""
    for _ in range(100):
        if not state.exists() or " Z " in state.read_text():
            return True
        time.sleep(0.02)
    return False


def interrupt_after_first_event(number: int) -> Callable[[object], None]:
    def on_event(event: object) -> None:
        threading.Timer(0.05, os.kill, (os.getpid(), number)).start()

    return on_event


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1])
def test_a_request_to_stop_reaches_the_worker_whose_record_stands(run: Run, number: int) -> None:
    body = (
        "from steptime.record.schema import Outcome\n"
        "try:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n"
        "    leave_record(outcome=Outcome(status='interrupted', phase='train', exit_code=130))\n"
    )
    former = signal.getsignal(number)
    record = run(body, on_event=interrupt_after_first_event(number))

    assert (record.outcome.status, record.outcome.exit_code) == ("interrupted", 130)
    assert signal.getsignal(number) is former
    assert len(record.epochs) == 2, "the history is kept"


def test_a_worker_that_ignores_a_request_is_killed_and_recorded_as_interrupted(
    run: Run, folder: Path
) -> None:
    record = run(IGNORES_REQUESTS, grace_s=0.1, on_event=interrupt_after_first_event(signal.SIGINT))

    assert (record.outcome.status, record.outcome.exit_code) == ("interrupted", 130)
    assert record.outcome.reason == "stopped before a record was written"
    assert record == read_record(folder)


def test_a_disk_that_is_full_at_the_end_is_the_reason_that_is_given(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    record = run("raise SystemExit(1)\n")

    assert record.outcome.reason == (
        "The run folder must be writable until the run ends. Received: No space left on device"
    )
    assert record.outcome.exit_code == 2
    assert not (folder / "run.json").exists()


def test_an_error_in_a_listener_does_not_leave_a_worker_behind(run: Run, folder: Path) -> None:
    def fail(event: object) -> None:
        raise RuntimeError("the listener failed")

    with pytest.raises(RuntimeError, match="the listener failed"):
        run(
            "(folder / 'pid').write_text(str(os.getpid()))\nevents.write('note')\ntime.sleep(60)\n",
            on_event=fail,
        )

    pid = (folder / "pid").read_text() if (folder / "pid").exists() else None
    # Empty where it was killed before it had written its number.
    assert not pid or not Path(f"/proc/{pid}").exists()


def test_a_worker_that_dies_of_a_failed_allocation_is_out_of_memory(run: Run) -> None:
    record = run(
        "print('terminate called after throwing an instance of std::bad_alloc')\n"
        "import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\nos.abort()\n"
    )

    assert record.outcome.fault is not None
    assert record.outcome.fault.kind == "out of memory"
    assert (record.outcome.reason or "").startswith("out of memory: the worker was ended by SIGABRT in phase")


def test_a_second_start_in_the_same_folder_shows_its_own_events_only(run: Run) -> None:
    events: list[dict[str, Any]] = []
    run("leave_record()\n")
    run("events.write('note', text='second')\nleave_record()\n", on_event=events.append)

    assert [event["kind"] for event in events] == ["phase", "note"]
