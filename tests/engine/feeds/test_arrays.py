"""Order and bookkeeping of arrays."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

pytestmark = pytest.mark.tensorflow

pytest.importorskip("keras")

from steptime.engine import private_keras  # noqa: E402
from steptime.engine.feeds.arrays import ArrayFeed, permutation  # noqa: E402


def feed(samples=10, batch_size=4, shuffle=False, steps_per_epoch=None, seed=0):
    x = np.arange(samples, dtype="float32")[:, None]
    arrays = private_keras.as_arrays(x=x, y=np.arange(samples), batch_size=batch_size, shuffle=shuffle)
    return ArrayFeed(arrays, seed=seed, steps_per_epoch=steps_per_epoch)


@given(samples=st.integers(1, 200), batch=st.integers(1, 50), seed=st.integers(0, 9), epoch=st.integers(0, 9))
def test_a_pass_visits_every_sample_once(samples, batch, seed, epoch):
    for shuffle in (True, "batch", False):
        order = permutation(samples, batch, shuffle, (seed, epoch))
        assert sorted(order) == list(range(samples))
        assert order.dtype == np.int64


@given(samples=st.integers(1, 200), batch=st.integers(1, 50))
def test_batch_shuffling_keeps_every_sample_in_its_batch(samples, batch):
    order = permutation(samples, batch, "batch", (1, 1))
    assert all(position // batch == sample // batch for position, sample in enumerate(order))


def test_the_order_depends_on_seed_and_epoch_only():
    first = permutation(100, 10, True, (1, 2))
    assert np.array_equal(first, permutation(100, 32, True, (1, 2)))
    assert not np.array_equal(first, permutation(100, 10, True, (1, 3)))
    assert not np.array_equal(first, permutation(100, 10, True, (2, 2)))


def test_a_training_resumed_at_an_epoch_sees_the_order_of_that_epoch():
    whole, resumed = feed(shuffle=True), feed(shuffle=True)
    for _ in range(2):
        assert whole.claim(100).steps == 3
        assert whole.claim(1) is None
    resumed.start_at(2)
    assert np.array_equal(whole.order, resumed.order)


def test_every_way_of_reading_gives_the_same_batches():
    arrays = feed(shuffle=True)
    iterator = arrays.iterator(0)
    for position in range(3):
        expected = arrays.batch(position)
        read = next(iterator)
        arrays.read(1)
        assert np.array_equal(expected[0], read[0])
        assert np.array_equal(expected[1], read[1])
    assert [len(arrays.batch(p)[0]) for p in range(3)] == [4, 4, 2]


def test_an_iterator_can_start_in_the_middle_of_a_pass():
    arrays = feed(shuffle=True)
    next(arrays.iterator(0))
    arrays.read(1)
    assert np.array_equal(next(arrays.iterator(2))[0], arrays.batch(2)[0])


def test_a_batch_size_that_divides_the_samples_gives_closed_shapes():
    assert feed(samples=12).element_spec[0].shape == (4, 1)
    assert feed(samples=10).element_spec[0].shape[0] is None


@settings(deadline=None, max_examples=30)
@given(samples=st.integers(1, 30), batch=st.integers(1, 7), chunk=st.integers(1, 5))
def test_an_epoch_is_one_pass_whatever_the_chunks(samples, batch, chunk):
    arrays = feed(samples=samples, batch_size=batch)
    for _ in range(2):
        arrays.begin_epoch()
        steps = []
        while (claim := arrays.claim(chunk)) is not None:
            steps += range(claim.position, claim.position + claim.steps)
        assert steps == list(range(-(-samples // batch)))


def test_steps_per_epoch_go_on_where_the_last_epoch_stopped():
    arrays = feed(samples=16, steps_per_epoch=3)
    seen = []

    def epoch():
        arrays.begin_epoch()
        while (claim := arrays.claim(9)) is not None:
            seen.append((claim.first, claim.position, claim.steps))

    epoch()
    with pytest.warns(UserWarning, match="ran out of data"):
        epoch()
    epoch()
    assert seen == [(0, 0, 3), (0, 3, 1), (0, 0, 3)]


def test_bytes_stay_bytes():
    arrays = private_keras.as_arrays(x=np.zeros((8, 3), np.uint8), batch_size=4)
    assert ArrayFeed(arrays).host.dtype == "uint8"
    assert ArrayFeed(arrays).bytes == 24
