"""Runs a plan with a group of workers, and starts the group again when one of them is lost."""

import dataclasses
import re
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from steptime.errors import RunError
from steptime.launch.attempts import attempts_of, in_what_is_left, tell_attempt
from steptime.launch.group import GroupEnd, GroupWatch, Member
from steptime.launch.launcher import OnEvent
from steptime.launch.process import log_tail, record_of
from steptime.launch.retry import next_start
from steptime.launch.stopping import StopRequest, heeding
from steptime.launch.vital_signs import Limits, Loss
from steptime.plan.plan import Plan, Protocol
from steptime.record.events import last_phase
from steptime.record.schema import Attempt, Fault, Outcome, RunRecord
from steptime.record.store import LOG_FILE, RECORD_FILE, member_folder, read_record, write_record

# What TensorFlow raises in a worker when another one is gone.
_OF_OTHERS = re.compile("(Unavailable|Aborted|Cancelled|DeadlineExceeded)Error|[Cc]ollective")

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
        begin_s = time.perf_counter()
        workers, lost_before = plan.settings.workers, -1
        with heeding(stop):
            while True:
                end, code = self._attempt(plan, folder, on_event, stop, workers, begin_s)
                loss = end.loss
                if loss is None or stop.reason:
                    return record_of(code, plan, folder, stop)
                outcome, earlier = _outcome_of(loss, folder), attempts_of(folder)
                again = next_start(plan, outcome, earlier)
                if again is None or again.plan != plan:  # smaller batches are tried by who launches anew
                    return _record_of_loss(plan, folder, stop, code, outcome)
                if loss.rank == lost_before and workers > (plan.protocol.min_workers or workers):
                    # The same place twice: what is wrong is the place.
                    workers -= 1
                lost_before = -1 if loss.rank is None else loss.rank
                then = f"{_who(plan, workers)}: {again.words}"
                words = f"noticed {end.noticed_s:.1f} s after the start; {then}"
                attempt = Attempt(
                    number=len(earlier) + 1,
                    phase=outcome.phase,
                    reason=outcome.reason or "",
                    fault=outcome.fault,
                    then=words,
                )
                tell_attempt(folder, attempt, on_event)

    def _attempt(
        self, plan: Plan, folder: Path, on_event: OnEvent, stop: StopRequest, workers: int, begin_s: float
    ) -> tuple[GroupEnd, int]:
        """Run the group once, in what is left of the time; also returns the chief's exit code."""
        with self._start(plan, folder, workers) as members:
            watch = GroupWatch(
                members=members,
                limits=self._limits or limits_of(plan.protocol),
                stop=stop,
                time_limit_s=in_what_is_left(plan, begin_s).protocol.time_limit_s,
            )
            end = watch.run(on_event)
            return end, members[0].poll() or 0


def limits_of(protocol: Protocol) -> Limits:
    """How long what may take in a run that is watched like this."""
    return Limits(silent_s=protocol.silent_limit_s, stuck_s=protocol.stuck_limit_s)


def _who(plan: Plan, workers: int) -> str:
    asked = plan.settings.workers
    return "all workers" if workers == asked else f"{workers} of {asked} workers"


def _outcome_of(loss: Loss, folder: Path) -> Outcome:
    """How the lost worker ended: in its own words where it left some.

    One that failed only because another was gone has met what may have passed, as one that was killed has.
    """
    rank = loss.rank or 0
    place = member_folder(folder, rank)
    own = read_record(place).outcome if (place / RECORD_FILE).exists() else None
    if own is None or own.status != "failed":
        return Outcome(
            status="failed",
            phase=last_phase(place),
            reason=loss.reason,
            hint=f"See {place / LOG_FILE}; --retries N starts the group again when a worker is lost.",
            exit_code=RunError.exit_code,
            log_tail=log_tail(place),
            fault=None if loss.wrong_use else Fault(kind="killed"),
        )
    reason, fault = f"worker {rank}: {own.reason}", own.fault
    if fault is None and not loss.wrong_use and _OF_OTHERS.search(own.reason or ""):
        fault = Fault(kind="killed")
    return dataclasses.replace(own, reason=reason, fault=fault, log_tail=log_tail(place))


def _record_of_loss(plan: Plan, folder: Path, stop: StopRequest, code: int, outcome: Outcome) -> RunRecord:
    """The record of a run whose group was given up."""
    record = dataclasses.replace(record_of(code, plan, folder, stop), outcome=outcome)
    write_record(folder, record)
    return record
