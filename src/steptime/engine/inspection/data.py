"""Facts of what is passed to `fit`: where batches come from, how many there are, labels."""

import math
from typing import Any

import keras
import numpy as np

from steptime.engine import private_keras
from steptime.engine.inspection import pipeline
from steptime.engine.inspection.fits import passes
from steptime.engine.inspection.losses import ignored_class, losses_of
from steptime.engine.inspection.sample import dtype_of, leaves, rows, shape_of
from steptime.engine.inspection.subject import DoesNotApply, NotKnown, Subject

# Labels are read whole up to this many: a tenth of a second.
_LABELS = 10_000_000


def read_fits(subject: Subject) -> dict[str, Any]:
    """Passes of this fit and of earlier ones of the same model."""
    return {"epochs": passes(subject.request), "earlier": subject.past.epochs(subject.model)}


def read_source(subject: Subject) -> dict[str, Any]:
    """What kind of thing feeds the training."""
    x = subject.request.x
    if subject.dataset is not None:
        return {"kind": "tf.data", "class": "Dataset", "python_ops": pipeline.python_ops(subject.dataset)}
    if isinstance(x, keras.utils.PyDataset):
        return {"kind": "PyDataset", "class": type(x).__name__, "workers": int(x.workers)}
    if hasattr(x, "__next__"):
        return {"kind": "generator", "class": type(x).__name__}
    if not leaves(x):
        raise NotKnown("no x was passed")
    return {"kind": "arrays", "class": type(leaves(x)[0][1]).__name__}


def arrays_of(subject: Subject) -> tuple[Any, Any]:
    """Inputs and targets as arrays, also those that a tf.data pipeline takes slices of.

    Raises:
        NotKnown: They come from somewhere else, or a function changes them on the way.
    """
    request = subject.request
    if subject.dataset is not None:
        elements = pipeline.sliced(subject.dataset)
        return (
            (elements[0], elements[1])
            if isinstance(elements, tuple) and len(elements) > 1
            else (elements, None)
        )
    if isinstance(request.x, keras.utils.PyDataset) or hasattr(request.x, "__next__"):
        raise NotKnown("the data come from Python code, which is not called for this")
    return request.x, request.y


def read_batch(subject: Subject) -> dict[str, Any]:
    """Sizes and counts; None where a stream does not tell."""
    request = subject.request
    epochs = passes(request)
    drops = False
    if subject.dataset is not None:
        size, samples, drops = pipeline.batching(subject.dataset)
        steps = pipeline.length(subject.dataset)
    elif private_keras.are_arrays((request.x, request.y)):
        samples = shape_of(leaves(request.x)[0][1])[0]
        if request.validation_split and request.validation_data is None:
            samples = math.floor(samples * (1.0 - request.validation_split))
        size = min(request.batch_size or 32, samples)
        steps = math.ceil(samples / size) if size else 0
    elif isinstance(request.x, keras.utils.PyDataset):
        size, samples, steps = None, None, request.x.num_batches
    elif leaves(request.x):
        size = samples = steps = None
    else:
        raise NotKnown("no x was passed")
    steps = request.steps_per_epoch or steps
    last = None
    if samples and size and not drops and request.steps_per_epoch is None:
        last = samples % size or size
    earlier = sum(subject.past.epochs(subject.model))
    return {
        "size": size,
        "samples": samples,
        "steps_per_epoch": steps,
        "epochs": epochs,
        "total_steps": None if steps is None else steps * epochs,
        "earlier_steps": 0 if steps is None else steps * earlier,
        "last": last,
    }


def read_arrays(subject: Subject) -> list[dict[str, Any]]:
    """Every array that is passed, and every element of a pipeline."""
    request = subject.request
    if subject.dataset is not None:
        spec = subject.dataset.element_spec
        named = zip(("x", "y", "sample_weight"), spec if isinstance(spec, tuple) else (spec,), strict=False)
        return [
            {"name": f"{name}{way}", "dtype": leaf.dtype.name, "bytes": None, "shape": None}
            for name, part in named
            for way, leaf in leaves(part)
            if hasattr(leaf, "dtype") and name != "y"
        ]
    given = {"x": request.x, "y": request.y}
    validation = request.validation_data
    if isinstance(validation, (tuple, list)):
        given |= {f"validation_data[{n}]": part for n, part in enumerate(validation)}
    return [
        {
            "name": f"{name}{way}",
            "dtype": dtype_of(leaf),
            "bytes": math.prod(shape_of(leaf)) * np.dtype(dtype_of(leaf)).itemsize,
            "shape": list(shape_of(leaf)),
        }
        for name, part in given.items()
        for way, leaf in leaves(part)
        if hasattr(leaf, "shape") and hasattr(leaf, "dtype")
    ]


def read_labels(subject: Subject) -> list[dict[str, Any]]:
    """Form and range of each target, in the order of the outputs."""
    _, y = arrays_of(subject)
    if isinstance(y, dict):
        targets = [y.get(name) for name in getattr(subject.model, "output_names", ())]
    else:
        targets = [leaf for _, leaf in leaves(y)]
    if not targets:
        raise NotKnown("no targets were passed")
    losses = losses_of(subject.model)
    ignored = [ignored_class(loss) for loss in losses] + [None] * len(targets)
    weights = _weights_of(subject)
    return [_label(target, left_out, weights) for target, left_out in zip(targets, ignored, strict=False)]


def _weights_of(subject: Subject) -> Any:
    """The weight of each sample as it was passed; None where all count alike."""
    if subject.dataset is None:
        return subject.request.sample_weight
    elements = pipeline.sliced(subject.dataset)
    return elements[2] if isinstance(elements, tuple) and len(elements) > 2 else None


def _label(array: Any, ignored: int | None, weights: Any) -> dict[str, Any]:
    """Facts of one target; None, for an output without one, has no values."""
    if array is None:
        array = np.empty((0,))
    shape = shape_of(array)
    few = math.prod(shape) <= _LABELS and hasattr(array, "dtype")
    values = np.asarray(array) if few else rows(array)
    facts: dict[str, Any] = {
        "shape": list(shape[1:]), "dtype": str(values.dtype), "low": None, "high": None, "low_counted": None,
        "high_counted": None, "is_whole": False, "is_one_hot": False, "read": len(values), "samples": shape[0],
    }  # fmt: skip
    if values.dtype.kind not in "biuf" or not values.size:
        return facts
    counted = values if ignored is None else values[values != ignored]
    if counted.size:
        facts |= {"low": float(np.min(counted)), "high": float(np.max(counted))}
    weighty = _of_weight(values, weights) if ignored is None else None
    if weighty is not None and weighty.size:
        facts |= {"low_counted": float(np.min(weighty)), "high_counted": float(np.max(weighty))}
    whole = values.dtype.kind in "biu" or bool((np.floor(values[:100_000]) == values[:100_000]).all())
    return facts | {"is_whole": whole, "is_one_hot": is_one_hot(values[:1000])}


def _of_weight(values: "np.ndarray[Any, Any]", weights: Any) -> "np.ndarray[Any, Any] | None":
    """The labels whose weight is not 0; None where weights and labels can't be laid beside each other."""
    if weights is None:
        return values
    if not hasattr(weights, "shape") or shape_of(weights)[:1] != (len(values),):
        return None
    flags = np.asarray(weights) != 0
    if flags.ndim == values.ndim + 1 and flags.shape[-1] == 1:
        flags = flags[..., 0]
    return values[flags] if flags.shape == values.shape[: flags.ndim] else None


def is_one_hot(values: "np.ndarray[Any, Any]") -> bool:
    """Whether rows of shape (n, ..., classes) hold one 1 each and else 0."""
    if values.ndim < 2 or values.shape[-1] < 2:
        return False
    return bool(((values == 0) | (values == 1)).all() and (values.sum(axis=-1) == 1).all())


def classes_of(y: Any) -> "np.ndarray[Any, Any] | None":
    """The class number of each sample; None when the targets are no classes, one a sample."""
    found = leaves(y)
    if len(found) != 1 or math.prod(shape_of(found[0][1])) > _LABELS:
        return None
    values = np.asarray(found[0][1])
    if values.ndim == 2 and is_one_hot(values[:1000]):
        return np.asarray(values.argmax(axis=-1))
    values = values.reshape(len(values)) if values.size == len(values) else values
    if values.ndim != 1 or values.dtype.kind not in "biuf":
        return None
    if values.dtype.kind == "f" and not (np.floor(values) == values).all():
        return None
    return values if len(np.unique(values)) <= max(2, len(values) // 10) else None


def read_label_order(subject: Subject) -> dict[str, Any]:
    """How often the label changes from one sample to the next; empty where that is not known."""
    if subject.dataset is None:
        raise DoesNotApply("the data are no tf.data pipeline")
    try:
        elements = pipeline.sliced(subject.dataset, through_functions=True)
    except NotKnown:
        return {}
    classes = classes_of(elements[1]) if isinstance(elements, tuple) and len(elements) > 1 else None
    if classes is None or len(classes) < 2:
        return {}
    shares = np.unique(classes, return_counts=True)[1] / len(classes)
    return {
        "samples": len(classes),
        "classes": len(shares),
        "changes": int((classes[1:] != classes[:-1]).sum()),
        "expected_changes": float((len(classes) - 1) * (1 - (shares**2).sum())),
    }
