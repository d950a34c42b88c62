"""Signs of life."""

import threading
from pathlib import Path

import pytest

from steptime.record.events import EventWriter, read_events
from steptime.worker import heartbeat


def test_a_worker_beats_until_the_end_and_then_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heartbeat, "_INTERVAL_S", 0.005)
    beaten = threading.Event()

    class Noting(EventWriter):
        def write(self, kind: str, **fields: object) -> None:
            super().write(kind, **fields)
            beaten.set()

    events = Noting(tmp_path)
    with heartbeat.beating(events):
        assert beaten.wait(timeout=30)
    kept = read_events(tmp_path)
    assert {event["kind"] for event in kept} == {"beat"}
    assert not any(thread.name == "steptime-beat" for thread in threading.enumerate())
    events.close()
