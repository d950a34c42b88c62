"""What the worker hears from the engine."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steptime.record.events import EventWriter, read_events
from steptime.worker.signals import StopRequested, StopSignals

pytestmark = pytest.mark.tensorflow


class Recorder:
    """Gives a graph with its number each time it was started."""

    def __init__(self) -> None:
        self.starts = 0
        self.on = False

    def start(self) -> None:
        self.starts += 1
        self.on = True

    def stop(self) -> tuple[Any, ...]:
        graphs = (self.starts,) if self.on else ()
        self.on = False
        return graphs


@pytest.fixture
def events(tmp_path: Path) -> Iterator[EventWriter]:
    writer = EventWriter(tmp_path)
    yield writer
    writer.close()


def make_watch(events: EventWriter, **changes: Any) -> Any:
    from steptime.worker.watch import TrainingWatch

    given = {
        "signals": StopSignals(),
        "steps_per_epoch": 4,
        "batch_size": 10,
        "samples": 35,
        "origin_ns": 0,
        **changes,
    }
    return TrainingWatch(events=events, recorder=Recorder(), **given)  # type: ignore[arg-type]


def block(first: int, steps: int, loop: str = "keras", epoch: int = 0, **changes: Any) -> dict[str, Any]:
    fields = {
        "epoch": epoch,
        "first_step": first,
        "n_steps": steps,
        "duration_ns": 1000 * steps,
        "loop": loop,
    }
    return {**fields, "compiled": False, "logs": {"loss": 0.5}, **changes}


@pytest.mark.parametrize(
    ("changes", "samples"),
    [
        ({}, [20, 15]),
        ({"samples": None}, [20, 20]),
        ({"batch_size": None}, [0, 0]),
    ],
)
def test_samples_are_counted_and_the_last_batch_is_shorter(
    events: EventWriter, changes: dict[str, Any], samples: list[int]
) -> None:
    watch = make_watch(events, **changes)
    watch.on_block(**block(0, 2))
    watch.on_block(**block(2, 2))

    assert watch.arrays()["samples"].tolist() == samples


def test_the_columns_of_steps_npz_hold_one_entry_a_block(events: EventWriter) -> None:
    watch = make_watch(events)
    watch.on_block(**block(0, 1, compiled=True))
    watch.on_block(**block(1, 3, "graph+kernels", logs={}))
    columns = watch.arrays()

    assert columns["steps"].tolist() == [1, 3]
    assert columns["compiled"].tolist() == [True, False]
    assert columns["loop"].tolist() == ["keras", "graph+kernels"]
    assert columns["loss"][0] == 0.5
    assert columns["loss"][1] != columns["loss"][1], "an unknown loss is NaN, not 0"
    assert not [name for name, column in columns.items() if column.dtype.hasobject]


def test_metrics_of_blocks_are_columns_too(events: EventWriter) -> None:
    watch = make_watch(events)
    watch.on_block(**block(0, 1, logs={"loss": 0.5}))
    watch.on_block(**block(1, 1, logs={"loss": 0.4, "accuracy": 0.75}))

    accuracy = watch.arrays()["logs.accuracy"]

    assert accuracy[0] != accuracy[0], "an unknown metric is NaN, not 0"
    assert accuracy[1] == 0.75


def test_blocks_and_epochs_end_at_times_from_the_start_of_the_process(events: EventWriter) -> None:
    from steptime.worker.watch import epochs_of

    begin_ns = time.perf_counter_ns()
    watch = make_watch(events, origin_ns=begin_ns)
    watch.on_block(**block(0, 1))
    watch.on_block(**block(1, 1))
    watch.epoch_ended(0, {})
    elapsed_ns = time.perf_counter_ns() - begin_ns

    first_ns, second_ns = watch.arrays()["end_ns"].tolist()
    (epoch,) = epochs_of(watch, {})
    assert epoch.end_ns is not None
    assert 0 <= first_ns <= second_ns <= epoch.end_ns <= elapsed_ns


def test_the_graphs_of_each_loop_are_kept_under_its_name(events: EventWriter) -> None:
    watch = make_watch(events)
    watch.recorder.start()
    watch.on_block(**block(0, 1))
    watch.on_block(**block(1, 1))
    watch.on_decision("graph: faster")
    watch.on_block(**block(2, 1, "graph"))

    assert watch.graphs == {"keras": (1,), "graph": (2,)}


def test_a_loop_that_came_unannounced_is_recorded_at_its_next_block(events: EventWriter) -> None:
    watch = make_watch(events)
    watch.on_block(**block(0, 1, "graph"))
    watch.on_block(**block(1, 2, "graph"))
    watch.on_block(**block(3, 1, "xla"))
    watch.on_block(**block(4, 1, "xla"))

    assert watch.graphs == {"graph": (1,)}
    assert not watch.recorder.on, "an XLA program leaves no graph to wait for"
    assert watch.main_loop() == "graph"


def test_the_parent_hears_of_progress_epochs_and_decisions(events: EventWriter, tmp_path: Path) -> None:
    watch = make_watch(events)
    watch.on_block(**block(0, 4, logs={"loss": float("nan"), "accuracy": 0.5}))
    watch.on_validation(epoch=0, duration_ns=7)
    watch.epoch_ended(0, {"loss": float("inf")})
    watch.on_decision("keras: the only one")
    progress, epoch, note = read_events(tmp_path)

    assert (progress["step"], progress["steps"], progress["samples_per_s"]) == (4, 4, 35 / 4e-6)
    assert progress["logs"] == {"loss": None, "accuracy": 0.5}
    assert (epoch["logs"], epoch["train_ns"], epoch["validate_ns"]) == ({"loss": None}, 4000, 7)
    assert note["text"] == "keras: the only one"


def test_a_request_to_stop_takes_effect_after_a_block_that_is_kept(events: EventWriter) -> None:
    watch = make_watch(events)
    watch.signals.requested = True
    with pytest.raises(StopRequested):
        watch.on_block(**block(0, 1))
    with pytest.raises(StopRequested):
        watch.epoch_ended(0, {})

    assert len(watch.blocks) == 1


def test_an_unfinished_epoch_has_the_logs_of_its_last_block(events: EventWriter) -> None:
    from steptime.worker.watch import epochs_of

    watch = make_watch(events)
    watch.on_block(**block(0, 4))
    watch.on_validation(epoch=0, duration_ns=7)
    watch.on_block(**block(0, 2, epoch=1, logs={"loss": 0.25}))
    whole, unfinished = epochs_of(watch, {0: {"loss": 0.75, "val_loss": 0.5}})

    assert (whole.logs, whole.steps, whole.validate_ns) == ({"loss": 0.75, "val_loss": 0.5}, 4, 7)
    assert (unfinished.logs, unfinished.steps, unfinished.validate_ns) == ({"loss": 0.25}, 2, None)


def test_a_request_is_left_to_whoever_asks_for_it(events: EventWriter) -> None:
    watch = make_watch(events)
    assert not watch.is_stop_requested()
    watch.signals.requested = True
    watch.on_block(**block(0, 1))

    assert watch.is_stop_requested()
