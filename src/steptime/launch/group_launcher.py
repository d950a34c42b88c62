"""Runs a plan with a group of workers, and starts the group again when one of them is lost."""

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from steptime.errors import RunError
from steptime.launch.group import GroupEnd, GroupWatch, Member
from steptime.launch.launcher import OnEvent
from steptime.launch.process import log_tail, record_of
from steptime.launch.stopping import StopRequest, heeding
from steptime.launch.vital_signs import Limits, Loss
from steptime.plan.codec import to_json
from steptime.plan.plan import Plan, Protocol
from steptime.record.events import EventWriter, last_phase
from steptime.record.schema import Attempt, Outcome, RunRecord
from steptime.record.store import LOG_FILE, RECORD_FILE, member_folder, read_record, write_record

# Starts so many workers on a run folder; on leaving, whatever still runs is ended.
Start = Callable[[Plan, Path, int], AbstractContextManager[Sequence[Member]]]


class GroupLauncher:
    """Launches groups (see `steptime.launch.launcher.Launcher`).

    Args:
        start: Starts the workers, here or elsewhere.
        limits: How long what may take; None for those of the plan.
    """

    def __init__(self, start: Start, limits: Limits | None = None) -> None:
        self._start = start
        self._limits = limits

    def launch(self, plan: Plan, folder: Path, on_event: OnEvent) -> RunRecord:
        """Execute ``plan`` and return the chief's record; after a loss start again as often as the plan says."""
        stop = StopRequest()
        protocol = plan.protocol
        workers, lost_before = plan.settings.workers, -1
        with heeding(stop):
            for attempt in range(protocol.retries + 1):
                end, code = self._attempt(plan, folder, on_event, stop, workers)
                loss = end.loss
                if loss is None or stop.reason or loss.wrong_use or attempt == protocol.retries:
                    break
                if loss.rank == lost_before and workers > (protocol.min_workers or workers):
                    # The same place twice: what is wrong is the place.
                    workers -= 1
                lost_before = -1 if loss.rank is None else loss.rank
                _tell(folder, attempt + 1, loss, _again(end, attempt + 1, plan, workers), on_event)
        if end.loss is None or stop.reason:
            return record_of(code, plan, folder, stop)
        return _record_of_loss(plan, folder, stop, code, end.loss)

    def _attempt(
        self, plan: Plan, folder: Path, on_event: OnEvent, stop: StopRequest, workers: int
    ) -> tuple[GroupEnd, int]:
        """Run the group once; also returns the chief's exit code."""
        with self._start(plan, folder, workers) as members:
            watch = GroupWatch(
                members=members,
                limits=self._limits or limits_of(plan.protocol),
                stop=stop,
                time_limit_s=plan.protocol.time_limit_s,
            )
            end = watch.run(on_event)
            return end, members[0].poll() or 0


def limits_of(protocol: Protocol) -> Limits:
    """How long what may take in a run that is watched like this."""
    return Limits(silent_s=protocol.silent_limit_s, stuck_s=protocol.stuck_limit_s)


def _again(end: GroupEnd, attempt: int, plan: Plan, workers: int) -> str:
    asked = plan.settings.workers
    who = "all workers start again" if workers == asked else f"{workers} of {asked} workers start again"
    return f"noticed {end.noticed_s:.1f} s after the start; {who} ({attempt} of {plan.protocol.retries})"


def _tell(folder: Path, number: int, loss: Loss, then: str, on_event: OnEvent) -> None:
    """Say that the group starts again, and keep it where the record will list it from."""
    on_event({"kind": "note", "text": f"{loss.reason}; {then}"})
    phase = last_phase(member_folder(folder, loss.rank or 0))
    attempt = Attempt(number=number, phase=phase, reason=loss.reason, fault=None, then=then)
    events = EventWriter(folder)
    events.write("attempt", attempt=to_json(attempt))
    events.close()


def _record_of_loss(plan: Plan, folder: Path, stop: StopRequest, code: int, loss: Loss) -> RunRecord:
    """The record of a run whose group was given up: in the lost worker's own words where it left some."""
    rank = loss.rank or 0
    place = member_folder(folder, rank)
    own = read_record(place).outcome if (place / RECORD_FILE).exists() else None
    if own is None or own.status != "failed":
        outcome = Outcome(
            status="failed",
            phase=last_phase(place),
            reason=loss.reason,
            hint=f"See {place / LOG_FILE}; --retries N starts the group again when a worker is lost.",
            exit_code=RunError.exit_code,
            log_tail=log_tail(place),
        )
    else:
        outcome = dataclasses.replace(own, reason=f"worker {rank}: {own.reason}", log_tail=log_tail(place))
    record = dataclasses.replace(record_of(code, plan, folder, stop), outcome=outcome)
    write_record(folder, record)
    return record
