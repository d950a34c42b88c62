"""Describes where a job's batches come from: the transformations of a tf.data pipeline, shapes, types, sizes."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from steptime.engine.private_keras import datasets
from steptime.engine.timing.source import SharedGenerator, Source, present
from steptime.record.profile import Pipeline, Stage

_MOST_SHAPES = 32
_BATCHES = 16
_RANDOM = re.compile(r"Random|Multinomial|TruncatedNormal")
_PYTHON = ("PyFunc", "EagerPyFunc", "PyFuncStateless")
# These stand in every pipeline and say nothing about it.
_SILENT = ("Options", "Model", "Variant", "Restructured")


def describe_pipeline(source: Source) -> Pipeline:
    """Return what can be said about a source of batches without training on it.

    A generator is not read: each of its batches is training data that would be lost.

    Args:
        source: The data of a job.
    """
    batches = list(_batches(source))
    shapes = Counter(_shape_of(batch) for batch in batches)
    first = present(batches[0]) if batches else []
    is_dataset = isinstance(source.x, tf.data.Dataset)
    return Pipeline(
        kind=_kind(source),
        stages=tuple(_stages(source.x)) if is_dataset else (),
        batch_shapes=tuple(shape for shape, _ in shapes.most_common(_MOST_SHAPES)),
        distinct_shapes=len(shapes),
        batches_seen=len(batches),
        dtypes=tuple(_dtype(leaf) for leaf in first),
        dtype_bytes=tuple(_bytes(leaf) for leaf in first),
        batch_bytes=sum(_bytes(leaf) for leaf in first) if first else None,
        elements=_elements(source),
        workers=int(source.x.workers) if isinstance(source.x, keras.utils.PyDataset) else None,
    )


def _kind(source: Source) -> str:
    if isinstance(source.x, SharedGenerator):
        return "generator"
    if isinstance(source.x, keras.utils.PyDataset):
        return "pydataset"
    return "dataset" if isinstance(source.x, tf.data.Dataset) else "arrays"


def _elements(source: Source) -> int | None:
    """Batches in a pass over all of the data, however few of them make an epoch."""
    if isinstance(source.x, tf.data.Dataset):
        count = int(source.x.cardinality())
        return count if count >= 0 else None  # negative stands for endless and for unknown
    if isinstance(source.x, keras.utils.PyDataset):
        batches: int | None = source.x.num_batches
        return batches
    if source.is_arrays and source.batch_size:
        return -(-len(present(source.x)[0]) // source.batch_size)
    return None


def _batches(source: Source) -> Iterator[Any]:
    """A few batches: of arrays the first one, since all have its shape."""
    if isinstance(source.x, SharedGenerator):
        if source.x.first is not None:
            yield source.x.first
    elif isinstance(source.x, tf.data.Dataset):
        yield from source.x.take(_BATCHES)
    elif isinstance(source.x, keras.utils.PyDataset):
        yield from (source.x[number] for number in range(min(_BATCHES, source.x.num_batches or _BATCHES)))
    elif source.is_arrays:
        size = source.batch_size or 32
        parts = (source.x, source.y, source.sample_weight)
        yield tf.nest.map_structure(lambda array: None if array is None else array[:size], parts)


def _shape_of(batch: Any) -> str:
    inputs = batch[0] if isinstance(batch, tuple) and batch else batch
    return ", ".join(str(tuple(np.shape(leaf))) for leaf in present(inputs))


def _dtype(leaf: Any) -> str:
    dtype = getattr(leaf, "dtype", None)
    return str(getattr(dtype, "name", dtype)) if dtype is not None else type(leaf).__name__


def _bytes(leaf: Any) -> int:
    if _dtype(leaf) == "string":
        return 0
    size = getattr(leaf, "nbytes", None)
    return int(size) if size is not None else int(np.size(leaf)) * int(leaf.dtype.size)


def _stages(dataset: tf.data.Dataset) -> list[Stage]:
    """The transformations of a data set, each after those that it reads, from its graph."""
    stages: list[Stage] = []
    known: dict[int, tuple[int, ...]] = {}

    def places(current: Any) -> tuple[int, ...]:
        """Where a data set's elements come from: its own place, or of a silent one those of its inputs."""
        if id(current) not in known:
            name = datasets.kind(current).removesuffix("Dataset")
            inputs = datasets.joined(current)
            # The first input of a choice among data sets says which is next; what makes it costs nothing.
            read = inputs[1:] if name == "DirectedInterleave" else inputs
            found = tuple(dict.fromkeys(place for each in read for place in places(each)))
            if name and not name.startswith(_SILENT):
                stages.append(_stage(name, current, found))
                found = (len(stages) - 1,)
            known[id(current)] = found
        return known[id(current)]

    places(dataset)
    return stages


def _stage(name: str, dataset: Any, inputs: tuple[int, ...]) -> Stage:
    operations = set(datasets.operations(dataset))
    return Stage(
        name=name,
        inputs=inputs,
        parallel_calls=datasets.number(dataset, "num_parallel_calls"),
        buffer_size=datasets.number(dataset, "buffer_size"),
        batch_size=datasets.number(dataset, "batch_size"),
        has_python=any(kind in _PYTHON for kind in operations),
        is_random=any(_RANDOM.search(kind) for kind in operations),
    )
