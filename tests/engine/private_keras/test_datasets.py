"""The transformations of a tf.data pipeline can be read."""

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow

tf = pytest.importorskip("tensorflow")

from steptime.engine.private_keras import datasets  # noqa: E402


def test_a_pipeline_is_a_chain_from_its_source_on():
    x = np.arange(6.0)
    data = (
        tf.data.Dataset.from_tensor_slices({"a": x}).shuffle(5).map(lambda e: e).batch(2, drop_remainder=True)
    )
    chain = datasets.chain(data)

    assert [datasets.kind(part) for part in chain] == [
        "TensorSliceDataset", "ShuffleDataset", "MapDataset", "BatchDataset",
    ]  # fmt: skip
    np.testing.assert_array_equal(datasets.slices(chain[0])["a"], x)
    assert datasets.number(chain[1], "buffer_size") == 5
    assert datasets.number(chain[3], "batch_size") == 2
    assert datasets.number(chain[3], "drop_remainder") is True
    assert datasets.number(chain[2], "batch_size") is None
    assert datasets.slices(chain[3]) is None


def test_operations_are_found_inside_functions():
    def flip(image):
        return tf.image.random_flip_left_right(image)

    data = tf.data.Dataset.from_tensors(tf.zeros((2, 2, 1))).map(flip)
    assert "RandomUniform" in set(datasets.operations(data))
    assert "ReverseV2" in set(datasets.operations(data))


def test_joined_pipelines_are_all_there():
    one = tf.data.Dataset.range(3)
    assert len(datasets.joined(tf.data.Dataset.zip((one, one)))) == 2
    assert datasets.is_debugged() is False
