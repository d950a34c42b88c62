"""Starts the worker of a run, and starts it again from the last checkpoint while that promises something."""

import dataclasses
import time
from pathlib import Path

from steptime.launch.launcher import Launcher, OnEvent
from steptime.launch.retry import next_start
from steptime.plan.codec import from_json, to_json
from steptime.plan.plan import Plan
from steptime.record.events import EventWriter, read_events
from steptime.record.schema import Attempt, RunRecord
from steptime.record.store import CHECKPOINTS_FOLDER, RECORD_FILE, rewrite_plan, write_record


def run_attempts(plan: Plan, folder: Path, launcher: Launcher, on_event: OnEvent) -> RunRecord:
    """Execute a plan as ``launcher`` does, with the retries that its protocol allows.

    Each start is a new process in the same folder: it takes up the newest whole checkpoint by itself, and its memory
    is really free. Starts that did not end the run are kept in the events, and the record lists them.

    Args:
        plan: With its placement decided.
        folder: The run folder, with ``plan.json`` in it.
        launcher: Executes a start.
        on_event: Called for each event of the worker, and for a note about each new start.
    """
    begin_s = time.perf_counter()
    former = _newest_checkpoint(folder)
    now = plan
    while True:
        record = launcher.launch(now, folder, on_event)
        earlier = attempts_of(folder)
        again = next_start(plan, record.outcome, earlier, _samples_of_update(record))
        if again is None:
            break
        attempt = Attempt(
            number=len(earlier) + 1,
            phase=record.outcome.phase,
            reason=record.outcome.reason or "",
            fault=record.outcome.fault,
            then=again.words,
        )
        tell_attempt(folder, attempt, on_event)
        former = _newest_checkpoint(folder)
        plan = dataclasses.replace(
            again.plan, allow_different=plan.allow_different or again.plan.split != plan.split
        )
        rewrite_plan(folder, plan)
        (folder / RECORD_FILE).unlink(missing_ok=True)
        now = in_what_is_left(plan, begin_s)
    if plan.allow_different and _newest_checkpoint(folder) != former:
        # It was said of the checkpoint before; the next one is that of what is trained now.
        plan = dataclasses.replace(plan, allow_different=False)
        rewrite_plan(folder, plan)
    if not earlier:
        return record
    record = dataclasses.replace(record, plan=plan, attempts=earlier)
    write_record(folder, record)
    return record


def _newest_checkpoint(folder: Path) -> str:
    """Return its name, which begins with its number; empty when there is none."""
    names = (path.name for path in (folder / CHECKPOINTS_FOLDER).glob("[0-9]*"))
    return max(names, default="")


def in_what_is_left(plan: Plan, begin_s: float) -> Plan:
    """Return the plan with what is left of its time limit, which counts all starts together."""
    limit_s = plan.protocol.time_limit_s
    if limit_s is None:
        return plan
    left_s = max(limit_s - (time.perf_counter() - begin_s), 0.001)
    return dataclasses.replace(plan, protocol=dataclasses.replace(plan.protocol, time_limit_s=left_s))


def _samples_of_update(record: RunRecord) -> int | None:
    if record.job is None or record.job.batch_size is None:
        return None
    return record.job.batch_size * record.plan.split


def attempts_of(folder: Path) -> tuple[Attempt, ...]:
    """Return the starts of this run that did not end it, from its events: they survive this process."""
    kept = [event["attempt"] for event in read_events(folder) if event["kind"] == "attempt"]
    return tuple(from_json(Attempt, item, "attempt") for item in kept)


def tell_attempt(folder: Path, attempt: Attempt, on_event: OnEvent) -> None:
    """Say that a run starts again, and keep it where the record will list it from."""
    on_event({"kind": "note", "text": f"{attempt.reason}: {attempt.then}"})
    events = EventWriter(folder)
    events.write("attempt", attempt=to_json(attempt))
    events.close()
