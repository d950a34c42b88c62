"""Where batches come from, described without training."""

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow
keras = pytest.importorskip("keras")
tf = pytest.importorskip("tensorflow")

from steptime.engine.timing.source import SharedGenerator, Source  # noqa: E402
from steptime.worker.pipeline import describe_pipeline  # noqa: E402

X, Y = np.zeros((64, 4), np.float32), np.zeros(64, np.int64)


def test_the_transformations_of_a_data_set_are_named_from_its_source_on() -> None:
    dataset = (
        tf.data.Dataset.from_tensor_slices((X, Y))
        .shuffle(16)
        .map(lambda x, y: (x * 2.0, y), num_parallel_calls=4)
        .batch(8)
        .cache()
        .prefetch(tf.data.AUTOTUNE)
    )
    stages = describe_pipeline(Source(x=dataset)).stages

    assert [stage.name for stage in stages] == [
        "TensorSlice",
        "Shuffle",
        "ParallelMap",
        "Batch",
        "Cache",
        "Prefetch",
    ]
    assert stages[1].buffer_size == 16
    assert stages[2].parallel_calls == 4
    assert stages[3].batch_size == 8
    assert stages[5].buffer_size == -1


def test_python_and_randomness_in_a_map_function_are_seen() -> None:
    def python(x: Any, y: Any) -> Any:
        return tf.numpy_function(lambda a: a, [x], tf.float32), y

    def random(x: Any, y: Any) -> Any:
        return x + tf.random.uniform(tf.shape(x)), y

    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).map(python).map(random).batch(8)
    _, first, second, _ = describe_pipeline(Source(x=dataset)).stages

    assert (first.has_python, first.is_random) == (True, False)
    assert (second.has_python, second.is_random) == (False, True)


def test_all_the_pipelines_that_are_joined_are_followed() -> None:
    labels = tf.data.Dataset.from_tensor_slices(Y)
    images = tf.data.Dataset.from_tensor_slices(X).map(lambda x: x * 2.0)
    dataset = tf.data.Dataset.zip((labels, images)).batch(8).with_options(tf.data.Options())

    stages = describe_pipeline(Source(x=dataset)).stages

    assert [(stage.name, stage.inputs) for stage in stages] == [
        ("TensorSlice", ()),
        ("TensorSlice", ()),
        ("Map", (1,)),
        ("Zip", (0, 2)),
        ("Batch", (3,)),
    ]


def test_what_chooses_among_pipelines_is_none_of_them() -> None:
    one = tf.data.Dataset.from_tensor_slices(Y)
    dataset = tf.data.Dataset.sample_from_datasets([one, one.map(lambda y: y + 1)]).batch(8)

    stages = describe_pipeline(Source(x=dataset)).stages

    assert [stage.name for stage in stages] == ["TensorSlice", "Map", "DirectedInterleave", "Batch"]


def test_lengths_that_vary_are_counted_by_shape() -> None:
    lengths = [3, 5, 3, 7]
    dataset = tf.data.Dataset.from_generator(
        lambda: ((np.zeros((2, n), np.float32), np.zeros(2)) for n in lengths),
        output_signature=(tf.TensorSpec((2, None), tf.float32), tf.TensorSpec((2,), tf.float64)),
    )
    pipeline = describe_pipeline(Source(x=dataset))

    assert pipeline.distinct_shapes == 3
    assert pipeline.batch_shapes[0] == "(2, 3)"
    assert pipeline.dtypes == ("float32", "float64")
    assert pipeline.stages[0].name in ("Generator", "FlatMap", "TensorSlice", "FromTensors", "Tensor")


def test_arrays_have_the_bytes_of_one_batch() -> None:
    pipeline = describe_pipeline(Source(x=X, y=Y, batch_size=8))

    assert (pipeline.kind, pipeline.batch_bytes, pipeline.stages) == ("arrays", 8 * 4 * 4 + 8 * 8, ())
    assert pipeline.dtype_bytes == (8 * 4 * 4, 8 * 8)


def test_a_pass_is_all_of_the_data_and_not_what_makes_an_epoch() -> None:
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(8)

    assert describe_pipeline(Source(x=dataset)).elements == 8
    assert describe_pipeline(Source(x=dataset.repeat())).elements is None
    assert describe_pipeline(Source(x=dataset.filter(lambda *_: True))).elements is None
    assert describe_pipeline(Source(x=X, y=Y, batch_size=24)).elements == 3


def test_a_generator_is_not_read_for_it() -> None:
    shared = SharedGenerator(iter([(X[:8], Y[:8])]))
    pipeline = describe_pipeline(Source(x=shared))

    assert (pipeline.kind, pipeline.batches_seen) == ("generator", 0)
    assert len(list(shared.reader())) == 1
