"""What is told while a run validates."""

from types import SimpleNamespace
from typing import Any

import pytest

from steptime.engine.cadence import watches_test_batches
from steptime.worker import epochs
from steptime.worker.epochs import EpochEnd

pytestmark = pytest.mark.tensorflow


def test_validation_tells_now_and_then_that_it_goes_on_and_is_not_slowed_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[Any] = []
    events = SimpleNamespace(write=lambda kind, **fields: told.append((kind, fields)))
    callback: Any = EpochEnd(SimpleNamespace(events=events), None, SimpleNamespace())  # type: ignore[arg-type]
    now_s = callback._told_s
    for step in range(10):
        monkeypatch.setattr(epochs.time, "perf_counter", lambda s=now_s + step: s)
        callback.on_test_batch_end(step)
    assert told == [("validation", {"step": 6})]
    assert not watches_test_batches([callback])
