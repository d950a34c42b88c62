"""Workers of a group as processes of this machine."""

import contextlib
import dataclasses
import os
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from steptime.launch.group_launcher import Start
from steptime.launch.placement import placement_of_worker
from steptime.launch.ports import free_addresses
from steptime.launch.process import WORKER, bytecode_cache, kill_tree, start_worker
from steptime.launch.variables import member_variables, worker_variables
from steptime.plan.plan import Plan
from steptime.record.events import EventReader
from steptime.record.store import RECORD_FILE, create_member_folder


class LocalMember:
    """A worker of a group as a child process (see `steptime.launch.group.Member`).

    Args:
        rank: Its number.
        command: What takes a run folder as its last argument.
        folder: Its run folder.
        variables: Its environment.
    """

    def __init__(self, rank: int, command: Sequence[str], folder: Path, variables: dict[str, str]) -> None:
        self.rank = rank
        # What an earlier attempt wrote is no sign of life of this one.
        self._events = EventReader(folder, from_end=True)
        self._process = start_worker(command, folder, variables)

    def poll(self) -> int | None:
        """The exit code; None while it runs."""
        return self._process.poll()

    def new_events(self) -> Iterable[dict[str, Any]]:
        """What it wrote since the last call."""
        return self._events.new()

    def stop(self) -> None:
        """Ask it to end well."""
        self._process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        """End it and what it started."""
        if self._process.poll() is None:
            kill_tree(self._process)
        self._process.wait()


def start_locally(command: Sequence[str] = (sys.executable, *WORKER)) -> Start:
    """Return a function that starts a group on this machine.

    Args:
        command: What takes a run folder as its last argument.
    """

    @contextlib.contextmanager
    def start(plan: Plan, folder: Path, workers: int) -> Iterator[Sequence[LocalMember]]:
        cluster = free_addresses(workers)
        members: list[LocalMember] = []
        try:
            # One by one: those that were started are ended even if a later one cannot be.
            members.extend(_member(command, plan, folder, cluster, rank) for rank in range(workers))
            yield members
        finally:
            for member in members:
                member.kill()

    return start


def _member(
    command: Sequence[str], plan: Plan, folder: Path, cluster: Sequence[str], rank: int
) -> LocalMember:
    if plan.placement is not None:
        own = placement_of_worker(plan.placement, rank, len(cluster))
        plan = dataclasses.replace(plan, placement=own)
    place = create_member_folder(folder, plan, rank)
    (place / RECORD_FILE).unlink(missing_ok=True)
    variables = member_variables(worker_variables(plan, os.environ, bytecode_cache()), cluster, rank)
    return LocalMember(rank, command, place, variables)
