"""One run from its plan to its record: whatever happens, a record is written that says what happened."""

import errno
import traceback
from pathlib import Path

import steptime
from steptime.errors import SteptimeError, UsageError
from steptime.plan.plan import Plan
from steptime.record.events import EventWriter
from steptime.record.schema import SCHEMA_VERSION, Outcome, RunRecord
from steptime.record.store import read_plan, write_record
from steptime.worker.phases import PhaseClock
from steptime.worker.signals import StopSignals

INTERRUPTED_EXIT_CODE = 130  # 128 + SIGINT, as shells report it


def run(folder: Path) -> int:
    """Execute the plan in ``folder``, write the record, and return the exit code.

    Heavy imports happen inside the phase that names them, so that a broken TensorFlow is a recorded failure.
    """
    plan, created = read_plan(folder)
    events = EventWriter(folder)
    clock = PhaseClock(events)
    signals = StopSignals()
    facts: dict[str, object] = {}
    try:
        with signals.listening():
            _execute(folder, plan, clock, events, signals, facts)
        stopped = signals.requested
        outcome = Outcome(
            status="interrupted" if stopped else "ok",
            phase=clock.current,
            reason="stopped by a signal; what was trained until then is kept" if stopped else None,
            exit_code=INTERRUPTED_EXIT_CODE if stopped else 0,
        )
    except BaseException as error:  # noqa: BLE001 - every end of a run is recorded
        traceback.print_exc()
        outcome = outcome_of(error, clock.current)
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


def outcome_of(error: BaseException, phase: str) -> Outcome:
    """Turn whatever ended a run into an outcome with a reason, a hint and an exit code."""
    if isinstance(error, KeyboardInterrupt):
        return Outcome(
            status="interrupted", phase=phase, reason="stopped by a signal", exit_code=INTERRUPTED_EXIT_CODE
        )
    if isinstance(error, SteptimeError):
        return Outcome(
            status="failed", phase=phase, reason=error.message, hint=error.hint, exit_code=error.exit_code
        )
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Outcome(
            status="failed",
            phase=phase,
            reason=f"The disk must have free space. {error}",
            hint="Free some space, or choose another folder with --runs DIR.",
            exit_code=UsageError.exit_code,
        )
    if isinstance(error, MemoryError) or "ResourceExhausted" in type(error).__name__:
        return Outcome(
            status="failed",
            phase=phase,
            reason=f"out of memory: {_one_line(error)}",
            hint="Use a smaller --batch-size.",
            exit_code=3,
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
    with clock.phase("import"):
        from steptime.worker.training import Training
    Training(folder=folder, plan=plan, clock=clock, events=events, signals=signals, facts=facts).run()


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 300 else text[:297] + "..."
