"""Runs a plan in a fresh process on this machine, and answers with a record however the process ends."""

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import steptime
from steptime import units
from steptime.errors import RunError, UsageError
from steptime.launch.evidence import MemoryEvidence
from steptime.launch.launcher import OnEvent
from steptime.launch.stopping import StopRequest, heeding
from steptime.launch.variables import worker_variables
from steptime.plan.plan import Plan
from steptime.record.events import LAUNCH, EventReader, EventWriter, last_phase
from steptime.record.schema import SCHEMA_VERSION, Outcome, RunRecord
from steptime.record.store import LOG_FILE, RECORD_FILE, read_plan, read_record, write_record

_POLL_S = 0.05
# How often a worker's memory is looked at, which takes about 0.1 ms.
_LOOK_S = 0.5
# After a request to stop, the worker ends its block, saves the model and writes its record.
_GRACE_S = 10.0
_LOG_TAIL_LINES = 15
_LOG_TAIL_BYTES = 64 * 1024
_LOG_BEGINS = b"--- a worker starts ---"

# Arguments of Python that make a worker of it, which takes a run folder as one more. As `-m steptime.worker`, except
# that nothing is imported from the working directory: a json.py that lies there is the person's.
WORKER = (
    "-c",
    "import sys; sys.flags.safe_path or sys.path.pop(0); from steptime.worker.__main__ import main; main()",
)


class ProcessLauncher:
    """Launches workers as child processes (see ``steptime.launch.launcher.Launcher``).

    Args:
        worker: The command that takes a run folder as its last argument.
        grace_s: Seconds between the request to stop and the kill.
    """

    def __init__(self, worker: Sequence[str] = (sys.executable, *WORKER), grace_s: float = _GRACE_S) -> None:
        self._worker = worker
        self._grace_s = grace_s

    def launch(self, plan: Plan, folder: Path, on_event: OnEvent) -> RunRecord:
        """Execute ``plan`` and return its record; Ctrl-C is passed on and ends it cleanly."""
        stop = StopRequest()
        evidence = MemoryEvidence()
        evidence.begin()
        with heeding(stop):
            variables = worker_variables(plan, os.environ, bytecode_cache())
            worker = start_worker(self._worker, folder, variables)
            try:
                self._watch(worker, plan, folder, on_event, stop, evidence)
            finally:
                if worker.poll() is None:
                    kill_tree(worker)
                    worker.wait()
        return record_of(worker.returncode, plan, folder, stop, evidence)

    def _watch(
        self,
        worker: "subprocess.Popen[bytes]",
        plan: Plan,
        folder: Path,
        on_event: OnEvent,
        stop: StopRequest,
        evidence: MemoryEvidence,
    ) -> None:
        reader = EventReader(folder, from_end=True)
        begin_s = look_s = time.perf_counter()
        limit_s = plan.protocol.time_limit_s
        signals_sent = 0
        while worker.poll() is None:
            for event in reader.new():
                on_event(event)
            now_s = time.perf_counter()
            if now_s - look_s > _LOOK_S:
                look_s = now_s
                evidence.look(worker.pid)
            if limit_s is not None and now_s - begin_s > limit_s and stop.reason is None:
                stop.reason = "time limit"
                stop.signals += 1
            if stop.signals > signals_sent:
                signals_sent = stop.signals
                stop.since_s = now_s
                worker.send_signal(signal.SIGINT)
            if stop.reason is not None and now_s - stop.since_s > self._grace_s:
                kill_tree(worker)
            time.sleep(_POLL_S)
        for event in reader.new():
            on_event(event)


def start_worker(
    command: Sequence[str], folder: Path, variables: Mapping[str, str]
) -> "subprocess.Popen[bytes]":
    """Start a worker on a run folder; what it prints goes to the folder's log, after that of earlier workers."""
    events = EventWriter(folder)
    events.write(LAUNCH)
    events.close()
    with (folder / LOG_FILE).open("ab") as log:
        log.write(_LOG_BEGINS + b"\n")
        log.flush()
        return subprocess.Popen(
            [*command, str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=dict(variables),
            # Its own session: a Ctrl-C at the terminal reaches it through this process only, once.
            start_new_session=True,
        )


def record_of(
    code: int, plan: Plan, folder: Path, stop: StopRequest, evidence: MemoryEvidence | None = None
) -> RunRecord:
    """Read the worker's record, or make one where it could not; a hang is a failure of its own."""
    if (folder / RECORD_FILE).exists():
        record = read_record(folder)
        if stop.reason == "time limit":
            record = dataclasses.replace(
                record, outcome=_outcome(code, folder, stop, evidence or MemoryEvidence())
            )
        elif record.outcome.status == "failed":
            outcome = dataclasses.replace(record.outcome, log_tail=log_tail(folder))
            record = dataclasses.replace(record, outcome=outcome)
        else:
            return record
    else:
        record = RunRecord(
            schema_version=SCHEMA_VERSION,
            steptime_version=steptime.__version__,
            run_id=folder.name,
            created=read_plan(folder)[1],
            plan=plan,
            outcome=_outcome(code, folder, stop, evidence or MemoryEvidence()),
        )
    try:
        write_record(folder, record)
    except OSError as error:
        # That is then the likeliest reason of everything else, and the worker could not write it either.
        unwritable = Outcome(
            status="failed",
            phase=record.outcome.phase,
            reason=f"The run folder must be writable until the run ends. Received: {error.strerror}",
            hint="Free some space, or choose another folder with --runs DIR.",
            exit_code=UsageError.exit_code,
            log_tail=record.outcome.log_tail,
        )
        return dataclasses.replace(record, outcome=unwritable)
    return record


def kill_tree(worker: "subprocess.Popen[bytes]") -> None:
    """Kill a worker and the processes it started, such as those that load data."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(worker.pid, signal.SIGKILL)
    else:
        worker.kill()


def _outcome(code: int, folder: Path, stop: StopRequest, evidence: MemoryEvidence) -> Outcome:
    phase = last_phase(folder)
    tail = log_tail(folder)
    common: dict[str, Any] = {"phase": phase, "log_tail": tail}
    if stop.reason == "time limit":
        return Outcome(
            status="failed",
            reason=f"the time limit was reached in phase {phase!r}",
            hint="Give more with --time-limit, or see in worker.log what it was doing.",
            exit_code=RunError.exit_code,
            **common,
        )
    if stop.reason == "interrupted":
        return Outcome(
            status="interrupted", reason="stopped before a record was written", exit_code=130, **common
        )
    name = _signal_name(code)
    fault = evidence.fault(name, "\n".join(tail))
    how = f"was ended by {name}" if name else f"ended with exit code {code}"
    reason = f"the worker {how} in phase {phase!r}"
    hint = "See worker.log. --retries 3 starts again from the last checkpoint by itself."
    if fault.kind == "out of memory":
        used = "" if fault.used_bytes is None else f"; it used {units.size_bytes(fault.used_bytes)}"
        reason = f"out of memory: {reason}{used}{''.join(f'; {words}' for words in fault.details)}"
        hint = "Use a smaller --batch-size or fewer data, or --on-oom halve."
    elif name == "SIGKILL":
        hint = f"The system does that when memory runs out. {hint}"
    elif name is None:
        reason += f": {_last_words(tail)}"
    return Outcome(
        status="failed", reason=reason, hint=hint, exit_code=RunError.exit_code, fault=fault, **common
    )


def _signal_name(code: int) -> str | None:
    """Return the name of the signal that ended a process; None when it ended by itself."""
    if code >= 0:
        return None
    return signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"


def log_tail(folder: Path) -> tuple[str, ...]:
    """Return the last lines that the worker started last wrote to the log."""
    try:
        with (folder / LOG_FILE).open("rb") as log:
            log.seek(max(log.seek(0, os.SEEK_END) - _LOG_TAIL_BYTES, 0))
            content = log.read().rpartition(_LOG_BEGINS)[2]
    except OSError:
        return ()
    lines = content.decode("utf-8", errors="replace").splitlines()
    return tuple(line for line in lines if line.strip())[-_LOG_TAIL_LINES:]


def _last_words(tail: tuple[str, ...]) -> str:
    return tail[-1].strip()[:200] if tail else "it left no words"


def bytecode_cache() -> Path | None:
    """Return a folder for bytecode when that of the installed packages cannot be written."""
    packages = Path(sysconfig.get_path("purelib"))
    if os.access(packages, os.W_OK):
        return None
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "steptime" / "bytecode"
