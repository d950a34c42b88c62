"""A group of workers that train one model: started together, watched together, ended together."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from steptime.launch.launcher import OnEvent
from steptime.launch.stopping import StopRequest
from steptime.launch.vital_signs import Limits, Loss, VitalSigns

_POLL_S = 0.05
# The workers end their block, agree to stop, and the chief saves the model and writes its record.
_GRACE_S = 20.0


class Member(Protocol):
    """One worker of a group, wherever its process runs."""

    @property
    def rank(self) -> int:
        """Its number; 0 is the chief."""

    def poll(self) -> int | None:
        """The exit code of its process, as in `subprocess`; None while it runs."""

    def new_events(self) -> Iterable[dict[str, Any]]:
        """What it wrote to its events since the last call."""

    def stop(self) -> None:
        """Ask it to end well."""

    def kill(self) -> None:
        """End it and what it started, at once, and wait until it is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupEnd:
    """How a group ended.

    Attributes:
        loss: Why it was given up; None when all ended by themselves, or were asked to.
        noticed_s: Seconds from the start of the group until that was noticed.
    """

    loss: Loss | None
    noticed_s: float


@dataclass(slots=True, kw_only=True)
class GroupWatch:
    """Watches one group from its start to its end.

    Attributes:
        members: The workers.
        limits: How long what may take.
        stop: Requests to stop.
        time_limit_s: When the run is ended; None for never.
        grace_s: Seconds between the request to stop and the kill.
    """

    members: Sequence[Member]
    limits: Limits
    stop: StopRequest
    time_limit_s: float | None = None
    grace_s: float = _GRACE_S
    _signals_sent: int = 0

    def run(self, on_event: OnEvent) -> GroupEnd:
        """Watch until every process has ended; after a loss the others are killed, as they wait for the lost one.

        Args:
            on_event: Called for each event of the chief but its beats.
        """
        begin_s = time.perf_counter()
        signs = VitalSigns([member.rank for member in self.members], self.limits, begin_s)
        loss: Loss | None = None
        try:
            while loss is None and not signs.all_ended:
                now_s = time.perf_counter()
                self._listen(signs, on_event, now_s)
                loss = None if self.stop.reason else signs.loss(now_s)
                self._pass_on(begin_s, now_s)
                time.sleep(_POLL_S)
        finally:
            noticed_s = time.perf_counter() - begin_s
            for member in self.members:
                member.kill()
        self._listen(signs, on_event, time.perf_counter())
        return GroupEnd(loss=loss, noticed_s=noticed_s)

    def _listen(self, signs: VitalSigns, on_event: OnEvent, now_s: float) -> None:
        for member in self.members:
            # Asked for before its events: what it wrote last is then read in any case.
            code = member.poll()
            for event in member.new_events():
                signs.heard(member.rank, event, now_s)
                if member.rank == 0 and event["kind"] != "beat":
                    on_event(event)
            if code is not None:
                signs.ended(member.rank, code)

    def _pass_on(self, begin_s: float, now_s: float) -> None:
        """Ask all workers to stop when that is asked for, and kill them when they do not."""
        if self.time_limit_s is not None and now_s - begin_s > self.time_limit_s and self.stop.reason is None:
            self.stop.reason = "time limit"
            self.stop.signals += 1
        if self.stop.signals > self._signals_sent:
            self._signals_sent = self.stop.signals
            self.stop.since_s = now_s
            for member in self.members:
                member.stop()
        if self.stop.reason is not None and now_s - self.stop.since_s > self.grace_s:
            for member in self.members:
                member.kill()
