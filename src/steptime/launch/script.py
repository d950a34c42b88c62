"""Runs a script in a fresh process that has this one's terminal: as with ``python script.py``, and with a record."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import steptime
from steptime.launch.launcher import OnEvent
from steptime.launch.process import WORKER, bytecode_cache
from steptime.launch.variables import script_variables
from steptime.plan.plan import Plan
from steptime.record.events import EventReader, last_phase
from steptime.record.schema import SCHEMA_VERSION, Outcome, RunRecord
from steptime.record.store import (
    RECORD_FILE,
    call_folders,
    read_plan,
    read_record,
    write_record,
)

_POLL_S = 0.05
# A terminal sends these to the script as well.
_FROM_THE_TERMINAL = tuple(getattr(signal, name) for name in ("SIGINT", "SIGQUIT") if hasattr(signal, name))
_FORWARDED = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2") if hasattr(signal, name)
)


class ScriptLauncher:
    """Launches scripts (see ``steptime.launch.launcher.Launcher``): streams, signals and exit code are the script's.

    Args:
        own_stdout: Whether the script writes to this process's stdout; otherwise it writes to stderr, so that
            stdout holds nothing but what steptime prints there.
    """

    def __init__(self, *, own_stdout: bool = True) -> None:
        self._own_stdout = own_stdout

    def launch(self, plan: Plan, folder: Path, on_event: OnEvent) -> RunRecord:
        """Run the script and return the record of it as a whole."""
        sys.stdout.flush()
        worker = subprocess.Popen(
            [sys.executable, *WORKER, str(folder.absolute())],
            stdout=None if self._own_stdout else sys.stderr.fileno(),
            env=script_variables(plan, os.environ, bytecode_cache()),
        )
        with _passing_signals_to(worker):
            reader = EventReader(folder)
            while worker.poll() is None:
                for event in reader.new():
                    on_event(event)
                time.sleep(_POLL_S)
            for event in reader.new():
                on_event(event)
        return _records(worker.returncode, folder)


@contextlib.contextmanager
def _passing_signals_to(worker: "subprocess.Popen[bytes]") -> Iterator[None]:
    """Let signals mean to the script what they mean with ``python``; this process goes on until the script ends."""

    def forward(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - signal's own signature
        if number not in _FROM_THE_TERMINAL or not _is_in_the_foreground():
            worker.send_signal(number)

    # What is ignored stays so: nohup asks for that.
    heeded = [
        number
        for number in (*_FROM_THE_TERMINAL, *_FORWARDED)
        if signal.getsignal(number) is not signal.SIG_IGN
    ]
    former = {number: signal.signal(number, forward) for number in heeded}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def _is_in_the_foreground() -> bool:
    """Whether a terminal's Ctrl-C goes to this process, and so to the script, which is in the same group."""
    if not hasattr(os, "tcgetpgrp"):
        return True  # Windows: a console's Ctrl-C reaches all its processes
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _records(code: int, folder: Path) -> RunRecord:
    """Return the script's record, after writing one for each run whose process ended before it could."""
    outcome = _outcome(code, last_phase(folder))
    for call in call_folders(folder):
        if not (call / RECORD_FILE).exists():
            _write_for(call, outcome)
    return read_record(folder) if (folder / RECORD_FILE).exists() else _write_for(folder, outcome)


def _write_for(folder: Path, outcome: Outcome) -> RunRecord:
    plan, created = read_plan(folder)
    record = RunRecord(
        schema_version=SCHEMA_VERSION,
        steptime_version=steptime.__version__,
        run_id=folder.name,
        created=created,
        plan=plan,
        outcome=outcome,
    )
    with contextlib.suppress(OSError):  # a full disk does not change how the script ended
        write_record(folder, record)
    return record


def _outcome(code: int, phase: str) -> Outcome:
    if code < 0:
        known = -code in set(signal.Signals)
        name = signal.Signals(-code).name if known else f"signal {-code}"
        memory = " (the system does that when memory runs out)" if name == "SIGKILL" else ""
        return Outcome(
            status="failed",
            phase=phase,
            reason=f"the script was ended by {name}{memory}",
            exit_code=128 - code,  # as shells report it
        )
    if code:
        return Outcome(
            status="failed",
            phase=phase,
            reason=f"the process ended with exit code {code} before a record could be written",
            exit_code=code,
        )
    return Outcome(
        status="ok",
        phase=phase,
        reason="the script ended its process itself (os._exit): nothing more is known",
    )
