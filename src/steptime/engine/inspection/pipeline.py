"""Facts of a tf.data pipeline, read from its transformations; no element is made."""

import re
from typing import Any

import tensorflow as tf

from steptime.engine.inspection.subject import DoesNotApply, NotKnown, Subject
from steptime.engine.private_keras import datasets

_OPS = {
    "TensorSliceDataset": "slices", "TensorDataset": "tensors", "RangeDataset": "range",
    "TFRecordDataset": "records", "TextLineDataset": "text", "ShuffleDataset": "shuffle", "BatchDataset": "batch",
    "ParallelBatchDataset": "batch", "PaddedBatchDataset": "batch", "DenseToRaggedDataset": "batch",
    "MapDataset": "map", "ParallelMapDataset": "map", "CacheDataset": "cache", "PrefetchDataset": "prefetch",
    "RepeatDataset": "repeat", "TakeDataset": "take", "SkipDataset": "skip", "OptionsDataset": "options",
    "FlatMapDataset": "flat_map", "InterleaveDataset": "interleave", "ParallelInterleaveDataset": "interleave",
    "FilterDataset": "filter", "UnbatchDataset": "unbatch", "ZipDataset": "zip", "ConcatenateDataset": "concatenate",
    "DirectedInterleaveDataset": "sample", "RebatchDataset": "batch", "ShardDataset": "shard",
}  # fmt: skip
_RANDOM = re.compile(r"Random|Multinomial|TruncatedNormal|SampleDistortedBoundingBox")
_PYTHON = {"PyFunc": "numpy_function", "EagerPyFunc": "py_function", "PyFuncStateless": "numpy_function"}
# These hand their elements on as they are.
_SAME_ELEMENTS = {"shuffle", "batch", "cache", "prefetch", "repeat", "options", "shard", "unbatch"}


def read_pipeline(subject: Subject) -> list[dict[str, Any]]:
    """Each transformation from the source on.

    Raises:
        DoesNotApply: No tf.data pipeline is trained on.
    """
    dataset = subject.dataset
    if dataset is None:
        raise DoesNotApply("the data are no tf.data pipeline")
    steps = [_step(part) for part in _chain(dataset)]
    # None, the default, means that TensorFlow rewrites the pipeline: it makes maps parallel and adds a prefetch.
    steps[-1]["is_optimised"] = (
        dataset.options().experimental_optimization.apply_default_optimizations is not False
    )
    return steps


def _chain(dataset: tf.data.Dataset) -> list[tf.data.Dataset]:
    """The steps from the source on; before a joint, those of the branch that shuffles, or the first one."""
    chain = datasets.chain(dataset)
    for number, part in enumerate(chain):
        branches = datasets.joined(part)
        if len(branches) > 1:
            shuffled = (
                branch
                for branch in branches
                if any(_op(step) == "shuffle" for step in _chain(branch))
            )  # fmt: skip
            chosen = next(shuffled, branches[0])
            return [*_chain(chosen), *chain[number:]]
    generators = [n for n, part in enumerate(chain) if _is_generator(part)]
    return chain[generators[-1] :] if generators else chain


def _is_generator(part: tf.data.Dataset) -> bool:
    """Whether this is the step of `from_generator` that runs the Python generator."""
    return _op(part) == "flat_map" and "GeneratorDataset" in datasets.operations(part)


def _op(part: tf.data.Dataset) -> str:
    name = datasets.kind(part)
    return _OPS.get(name, name)


def _step(part: tf.data.Dataset) -> dict[str, Any]:
    op = "generator" if _is_generator(part) else _op(part)
    step: dict[str, Any] = {"op": op}
    if op == "batch":
        step |= {
            "size": datasets.number(part, "batch_size"),
            "drops": bool(datasets.number(part, "drop_remainder")),
        }
    elif op == "shuffle":
        step |= {"buffer": datasets.number(part, "buffer_size")}
    elif op in ("map", "interleave", "flat_map"):
        step["random"] = sorted({name for name in datasets.operations(part) if _RANDOM.search(name)})
    return step


def python_ops(dataset: tf.data.Dataset) -> list[str]:
    """What calls Python in a pipeline: from_generator, numpy_function, py_function."""
    found: list[str] = []
    for part in _chain(dataset):
        if _is_generator(part):
            found.append("from_generator")
        else:
            found += sorted({_PYTHON[name] for name in datasets.operations(part) if name in _PYTHON})
    return list(dict.fromkeys(found))


def sliced(dataset: tf.data.Dataset, *, through_functions: bool = False) -> Any:
    """The arrays whose slices are the elements, nested as these are.

    Args:
        dataset: The pipeline.
        through_functions: Also when functions change the elements on the way, but neither their number nor order.

    Raises:
        NotKnown: The elements come from elsewhere, or are changed.
    """
    chain = datasets.chain(dataset)
    same = _SAME_ELEMENTS | ({"map"} if through_functions else set())
    for part in chain[1:]:
        if len(datasets.joined(part)) > 1 or _op(part) not in same:
            raise NotKnown(
                f"the elements pass through {_op(part)}, so their values are not known without making them"
            )
    arrays = datasets.slices(chain[0])
    if arrays is None:
        raise NotKnown(f"the elements come from {_op(chain[0])}, and are not made for this")
    return arrays


def batching(dataset: tf.data.Dataset) -> tuple[int | None, int | None, bool]:
    """Batch size, samples and whether a last smaller batch is dropped; None for what is not known."""
    for part in reversed(datasets.chain(dataset)):
        if _op(part) == "batch":
            size = datasets.number(part, "batch_size")
            before = datasets.joined(part)
            samples = length(before[0]) if before else None
            return size, samples, bool(datasets.number(part, "drop_remainder"))
        if _op(part) in ("unbatch", "flat_map", "interleave", "filter"):
            break
    leaves = tf.nest.flatten(dataset.element_spec)
    first = leaves[0].shape[0] if leaves and leaves[0].shape.rank else None
    return first, None, False


def length(dataset: tf.data.Dataset) -> int | None:
    """Number of elements as TensorFlow knows it; None for endless or unknown."""
    count = int(dataset.cardinality())
    return count if count >= 0 else None
