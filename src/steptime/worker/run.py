"""One run from its plan to its record: whatever happens, a record is written that says what happened."""

import contextlib
import os
import time
import traceback
from pathlib import Path

import steptime
from steptime.errors import SteptimeError, UsageError
from steptime.plan.cluster import CLUSTER_VARIABLE, read_place
from steptime.plan.plan import LAUNCHED_VARIABLE, Plan
from steptime.plan.script import SCRIPT
from steptime.record.events import EventWriter
from steptime.record.out_of_memory import needed_bytes
from steptime.record.schema import SCHEMA_VERSION, Fault, Outcome, RunRecord
from steptime.record.store import read_plan, write_record
from steptime.worker.heartbeat import beating
from steptime.worker.loading import is_full_disk, is_out_of_memory
from steptime.worker.phases import PhaseClock
from steptime.worker.script.run import run_script
from steptime.worker.signals import Stop, StopSignals

# A process that took longer to start was started by another machine.
_LONGEST_START_NS = 600_000_000_000
INTERRUPTED_EXIT_CODE = 130  # 128 + SIGINT, as shells report it


def run(folder: Path) -> int:
    """Execute the plan in ``folder``, write the record, and return the exit code.

    Heavy imports happen inside the phase that names them, so that a broken TensorFlow is a recorded failure.
    """
    plan, created = read_plan(folder)
    if plan.workload.kind == SCRIPT and not plan.protocol.profile:
        run_script(folder, plan, created, _launched_ns() or time.perf_counter_ns())
    signals = StopSignals()
    facts: dict[str, object] = {}
    events = EventWriter(folder)
    with signals.listening(), contextlib.closing(events):
        clock = PhaseClock(events, _launched_ns())
        try:
            _execute(folder, plan, clock, events, signals, facts)
            outcome = _end_of_training(signals, clock.current)
        except BaseException as error:  # noqa: BLE001 - every end of a run is recorded
            signals.stop = Stop.NEVER
            traceback.print_exc()
            outcome = outcome_of(error, clock.current)
        signals.stop = Stop.NEVER
        record = RunRecord(
            schema_version=SCHEMA_VERSION,
            steptime_version=steptime.__version__,
            run_id=folder.name,
            created=created,
            plan=plan,
            outcome=outcome,
            phases=clock.phases,
            **facts,  # type: ignore[arg-type]
        )
        write_record(folder, record)
    return outcome.exit_code


def _end_of_training(signals: StopSignals, phase: str) -> Outcome:
    if not signals.requested:
        return Outcome(status="ok", phase=phase)
    return Outcome(
        status="interrupted",
        phase=phase,
        reason="stopped by a signal; what was trained until then is kept",
        exit_code=INTERRUPTED_EXIT_CODE,
    )


def outcome_of(error: BaseException, phase: str) -> Outcome:
    """Turn whatever ended a run into an outcome with a reason, a hint and an exit code."""
    if isinstance(error, KeyboardInterrupt):
        return Outcome(
            status="interrupted", phase=phase, reason="stopped by a signal", exit_code=INTERRUPTED_EXIT_CODE
        )
    if isinstance(error, SteptimeError):
        return Outcome(
            status="failed",
            # A fault of the training is told after what was trained has been saved.
            phase=getattr(error, "phase", phase),
            reason=error.message,
            hint=error.hint,
            exit_code=error.exit_code,
            fault=getattr(error, "fault", None),
        )
    if is_full_disk(error):
        return Outcome(
            status="failed",
            phase=phase,
            reason=f"The disk must have free space. {error}",
            hint="Free some space, or choose another folder with --runs DIR.",
            exit_code=UsageError.exit_code,
        )
    if is_out_of_memory(error):
        return Outcome(
            status="failed",
            phase=phase,
            reason=f"out of memory: {_one_line(error)}",
            hint="Use a smaller --batch-size.",
            exit_code=3,
            fault=Fault(kind="out of memory", needed_bytes=needed_bytes(str(error))),
        )
    return Outcome(
        status="failed",
        phase=phase,
        reason=f"{type(error).__name__}: {_one_line(error)}",
        hint="The whole traceback is in worker.log; --debug prints it.",
        exit_code=3,
    )


def _execute(
    folder: Path,
    plan: Plan,
    clock: PhaseClock,
    events: EventWriter,
    signals: StopSignals,
    facts: dict[str, object],
) -> None:
    place = read_place(os.environ.get(CLUSTER_VARIABLE))
    with beating(events) if place.workers > 1 else contextlib.nullcontext():
        with clock.phase("import"):
            from steptime.worker.training import Training
        Training(folder=folder, plan=plan, clock=clock, events=events, signals=signals, facts=facts).run()


def _launched_ns() -> int | None:
    """Return when the launcher started this process; None when it did not say, or said it by another clock."""
    text = os.environ.get(LAUNCHED_VARIABLE, "")
    launched_ns = int(text) if text.isdigit() else None
    if launched_ns is None or not 0 <= time.perf_counter_ns() - launched_ns < _LONGEST_START_NS:
        return None
    return launched_ns


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 300 else text[:297] + "..."
