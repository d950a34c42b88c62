"""The estimate of what fits into memory."""

import keras
import pytest

from steptime.engine.footprint import available_bytes, bytes_per_sample, largest_batch

pytestmark = pytest.mark.tensorflow


@pytest.fixture
def model() -> keras.Model:
    return keras.Sequential([keras.Input((10,)), keras.layers.Dense(100), keras.layers.Dense(4)])


def test_a_sample_takes_input_and_outputs_of_all_layers_twice(model: keras.Model) -> None:
    assert bytes_per_sample(model) == 2 * 4 * (10 + 100 + 4)


def test_the_largest_batch_leaves_room_for_gradients_and_a_tenth(model: keras.Model) -> None:
    gradients = 4 * model.count_params()
    free = 10_000_000

    assert largest_batch(model, free) == (int(0.9 * free) - gradients) // 912
    assert largest_batch(model, 100) == 0


def test_a_model_that_shows_no_layers_has_no_estimate() -> None:
    class Own(keras.Model):
        def call(self, x: object) -> object:
            return x

    assert largest_batch(Own(), 1_000_000) is None


def test_a_limit_on_the_address_space_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    free = available_bytes("CPU:0")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1, 1))

    assert free > 1_000_000
    assert available_bytes("CPU:0") == 0
