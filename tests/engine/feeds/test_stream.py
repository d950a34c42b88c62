"""A stream of data goes on in another process where it was, and all later epochs come in the order they would have."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.tensorflow,
    # Keras says it whenever data end whose length it did not know.
    pytest.mark.filterwarnings("ignore:Your input ran out of data"),
]

EPOCHS = 4


def numbers(first: int = 0, end: int = 47) -> Any:
    import tensorflow as tf

    options = tf.data.Options()
    # Its tuning thread sleeps up to a minute, and ending an iterator waits for it.
    options.autotune.enabled = False
    return tf.data.Dataset.range(first, end).with_options(options)


def joined() -> Any:
    return numbers(0, 20).shuffle(5, seed=1).concatenate(numbers(20, 47).shuffle(5, seed=2)).batch(4)


def files() -> Any:
    import tensorflow as tf

    names = numbers(0, 6).shuffle(6, seed=1)
    return (
        names.interleave(lambda i: tf.data.Dataset.range(i * 8, i * 8 + 8), cycle_length=2)
        .shuffle(9, seed=2)
        .batch(4)
    )


PIPELINES: dict[str, tuple[Callable[[], Any], int | None]] = {
    "shuffled": (lambda: numbers().shuffle(10, seed=3).batch(4), None),
    "shuffled once": (lambda: numbers().shuffle(10, seed=3, reshuffle_each_iteration=False).batch(4), None),
    "not shuffled": (lambda: numbers().batch(4).prefetch(2), None),
    "of unknown length": (lambda: numbers().filter(lambda x: x != 3).shuffle(10, seed=3).batch(4), None),
    "two shuffled ones joined": (joined, None),
    "shuffled files read in turns": (files, None),
    "shuffled before a cache": (lambda: numbers().shuffle(10, seed=3).cache().shuffle(5, seed=4).batch(4), None),
    "repeated": (lambda: numbers().shuffle(10, seed=3).batch(4).repeat(), 7),
    "repeated samples": (lambda: numbers().shuffle(10, seed=3).repeat().batch(4), 7),
    "read over several epochs": (lambda: numbers().shuffle(10, seed=3).batch(4), 6),
}  # fmt: skip


class Reading:
    """Reads epochs of a feed, a block of steps at a time, and saves its place where it is told to."""

    def __init__(self, pipeline: str, folder: Path) -> None:
        import keras

        from steptime.engine.feeds.stream import StreamFeed

        make, steps_per_epoch = PIPELINES[pipeline]
        model = keras.Sequential([keras.layers.Dense(1)])
        self.feed = StreamFeed(model, x=make(), shuffle=False, steps_per_epoch=steps_per_epoch)
        self.feed.keep_anchors(folder)
        self.read: list[list[list[int]]] = []

    def epoch(self, block: int, at: dict[int, Path]) -> None:
        self.feed.begin_epoch()
        self.rest(block, at)

    def rest(self, block: int, at: dict[int, Path]) -> None:
        self.read.append([])
        with self.feed.catch_stop_iteration():
            while (claim := self.feed.claim(block)) is not None:
                for number in range(claim.steps):
                    try:
                        self.read[-1].append(self.feed.batch(0)[0].numpy().tolist())
                    except StopIteration:
                        self.feed.ran_out(claim.steps - number)
                        raise
                if claim.first + claim.steps in at:
                    self.save(at[claim.first + claim.steps], inside_epoch=True)

    def save(self, prefix: Path, *, inside_epoch: bool) -> None:
        self.has_saved = self.feed.save_iterator(prefix, inside_epoch=inside_epoch)
        self.state = self.feed.state()


PLACES = [
    pytest.param(pipeline, epoch, step, id=f"{pipeline}, epoch {epoch}, {step or 'its end'}")
    for pipeline, (_, steps_per_epoch) in PIPELINES.items()
    for epoch in (0, 2)
    for step in (2, 6, 10, None)
    if step is None or steps_per_epoch is None or step <= steps_per_epoch
]


@pytest.mark.parametrize(("pipeline", "epoch", "step"), PLACES)
def test_a_stream_goes_on_in_the_order_it_would_have_had(
    pipeline: str, epoch: int, step: int | None, tmp_path: Path
) -> None:
    prefix = tmp_path / "iterator"
    reading = Reading(pipeline, tmp_path / "first")
    for number in range(EPOCHS):
        reading.epoch(2, {step: prefix} if number == epoch and step is not None else {})
        if number == epoch and step is None:
            reading.save(prefix, inside_epoch=False)

    other = Reading(pipeline, tmp_path / "second")
    has_saved = prefix.with_name("iterator.index").exists()
    assert has_saved == reading.has_saved
    other.feed.go_on(reading.state, prefix if has_saved else None, inside_epoch=step is not None)
    if step is not None:
        other.rest(2, {})
    while len(other.read) < len(reading.read[epoch if step is not None else epoch + 1 :]):
        other.epoch(2, {})

    expected = reading.read[epoch + (step is None) :]
    if step is not None:
        expected[0] = expected[0][step:]
    assert other.read == expected


@pytest.mark.parametrize(("epoch", "again"), [(0, 12), (3, 12)])
def test_at_most_the_epoch_is_read_again_when_only_its_end_is_saved(
    epoch: int, again: int, tmp_path: Path
) -> None:
    reading = Reading("shuffled", tmp_path / "first")
    for _ in range(epoch + 1):
        reading.epoch(2, {})
    reading.save(tmp_path / "iterator", inside_epoch=False)
    other = Reading("shuffled", tmp_path / "second")
    other.feed.go_on(reading.state, tmp_path / "iterator", inside_epoch=False)
    assert other.feed.read_again == again


def test_a_state_from_the_middle_of_the_data_needs_nothing_read_again(tmp_path: Path) -> None:
    reading = Reading("shuffled", tmp_path / "first")
    reading.epoch(2, {})
    reading.epoch(2, {4: tmp_path / "iterator"})
    other = Reading("shuffled", tmp_path / "second")
    other.feed.go_on(reading.state, tmp_path / "iterator", inside_epoch=True)
    assert other.feed.read_again == 0


@pytest.mark.parametrize("is_shared", [True, False])
def test_what_all_processes_read_comes_in_one_order(is_shared: bool) -> None:
    import tensorflow as tf

    from steptime.engine.feeds import stream

    prepared = stream._prepared(tf.data.Dataset.range(3), False, None, is_shared)
    assert prepared.options().deterministic is (True if is_shared else None)
