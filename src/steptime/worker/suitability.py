"""Do model, loss and data fit each other? Asked before training, where Keras would fail late or not at all."""

import math
from collections.abc import Mapping
from typing import Any

import keras
import numpy as np

from steptime.errors import UsageError
from steptime.plan.settings import Settings
from steptime.worker.data import Part, leaves

# Reading this many bytes for NaN takes about a tenth of a second; beyond it every n-th sample is read.
_FINITE_CHECK_BYTES = 512 * 2**20
# Losses that compare labels and outputs element by element.
_SAME_SHAPE = ("mean_squared_error", "mean_absolute_error", "binary_crossentropy")
_NUMBERS_ONLY = (*_SAME_SHAPE, "sparse_categorical_crossentropy", "categorical_crossentropy", "kl_divergence")
_LOSS_CLASSES = {
    "MeanSquaredError": "mean_squared_error",
    "MeanAbsoluteError": "mean_absolute_error",
    "BinaryCrossentropy": "binary_crossentropy",
    "CategoricalCrossentropy": "categorical_crossentropy",
    "SparseCategoricalCrossentropy": "sparse_categorical_crossentropy",
    "KLDivergence": "kl_divergence",
}


def check_arrays(part: Part, name: str, settings: Settings) -> None:
    """Check what can be checked of arrays alone: emptiness, equal lengths, batch size, finite values.

    Raises:
        UsageError: The first fault found.
    """
    if part.stream is not None:
        return
    arrays = {"x": part.x, "y": part.y, "sample_weight": part.sample_weight}
    named = {
        f"{key}[{i}]" if i else key: leaf
        for key, value in arrays.items()
        if value is not None
        for i, leaf in enumerate(leaves(value))
    }
    for key, leaf in named.items():
        _check_kind(leaf, f"{name} {key}")
    lengths = {key: int(leaf.shape[0]) for key, leaf in named.items()}
    if not lengths or min(lengths.values()) == 0:
        raise UsageError(
            f"The {name} data must hold at least one sample. Received: {lengths}",
            hint="Look at what load_data() returns.",
        )
    if len(set(lengths.values())) > 1:
        raise UsageError(
            f"The {name} arrays must have equal lengths. Received: {lengths}",
            hint="Every input, target and weight needs one entry for each sample.",
        )
    samples = part.samples or 0
    if name == "training" and settings.batch_size > samples:
        raise UsageError(
            f"batch_size must be at most the number of training samples, {samples}. "
            f"Received: {settings.batch_size}",
            hint=f"Use --batch-size {min(32, samples)}, or bring more data.",
        )
    for key, leaf in named.items():
        check_finite(leaf, f"{name} {key}")


def check_finite(value: Any, name: str) -> None:
    """Check that no array in a nested structure holds NaN or an infinity.

    Raises:
        UsageError: One does; its place is named.
    """
    for leaf in leaves(value):
        _check_finite(leaf, name)


def check_model_takes(model: keras.Model, x: Any) -> Any:
    """Check the shapes of a first batch against the model's inputs, and build the model on it.

    Returns:
        The shape of the model's output, batch first and None; nested like the output.

    Raises:
        UsageError: They do not fit.
    """
    expected = {item.name: tuple(item.shape) for item in getattr(model, "inputs", None) or ()}
    arrays = leaves(x)
    if isinstance(x, Mapping) and set(expected) <= set(x):
        arrays = [x[name] for name in expected]
    if expected and len(arrays) != len(expected):
        raise UsageError(
            f"The model has {len(expected)} inputs. The data bring {len(arrays)}",
            hint="load_data() must return one array (or dict entry) for each input of the model.",
        )
    for index, (array, shape) in enumerate(zip(arrays, expected.values(), strict=False)):
        _check_shape(tuple(array.shape), shape, index, len(arrays))
    try:
        output = model(x, training=False)
    except (ValueError, TypeError) as error:
        raise UsageError(
            f"The model must accept the data. {_one_line(error)} Received: {_shapes(arrays)}",
            hint="Make create_model() and load_data() agree on shapes and types.",
        ) from error
    return keras.tree.map_structure(lambda tensor: (None, *tensor.shape[1:]), output)


def check_labels(model: keras.Model, shape: Any, y: Any) -> None:
    """Check labels against the compiled loss and the model's output, for losses that Keras itself brings.

    Args:
        model: Compiled.
        shape: Shape of its one output, batch first; several outputs are left to Keras.
        y: Targets: all of them, or those of a first batch.

    Raises:
        UsageError: They do not fit.
    """
    loss = _loss_name(getattr(model, "loss", None))
    if y is None or len(leaves(y)) != 1 or not isinstance(shape, tuple) or not isinstance(shape[-1], int):
        return
    labels = np.asarray(leaves(y)[0])
    classes = int(shape[-1])
    if loss in _NUMBERS_ONLY and labels.dtype.kind not in "iubf":
        raise UsageError(
            f"{loss} must get labels that are numbers. Received: {labels.dtype}",
            hint="Number the classes from 0, for example with np.unique(y, return_inverse=True)[1].",
        )
    if loss == "sparse_categorical_crossentropy":
        _check_class_numbers(labels, classes, shape)
    elif loss in ("categorical_crossentropy", "kl_divergence") and labels.shape[-1:] != (classes,):
        raise UsageError(
            f"{loss} must get one-hot labels of shape (..., {classes}). Received: shape {labels.shape}",
            hint="Use sparse_categorical_crossentropy for class numbers, or keras.utils.to_categorical(y).",
        )
    elif loss == "binary_crossentropy" and (labels.min() < 0 or labels.max() > 1):
        raise UsageError(
            f"binary_crossentropy must get labels from 0 to 1. Received: {labels.min()} to {labels.max()}",
            hint="Use sparse_categorical_crossentropy for more than two classes.",
        )
    elif loss in _SAME_SHAPE and labels.size != math.prod((len(labels), *(n or 1 for n in shape[1:]))):
        raise UsageError(
            f"{loss} must get labels of the output's shape {shape}. Received: shape {labels.shape}",
            hint="Shapes that only broadcast train the wrong thing without an error.",
        )


def _check_class_numbers(labels: "np.ndarray[Any, Any]", classes: int, shape: tuple[Any, ...]) -> None:
    if labels.ndim == len(shape) and labels.shape[-1] != 1:
        raise UsageError(
            f"sparse_categorical_crossentropy must get class numbers of shape (n,). "
            f"Received: shape {labels.shape}",
            hint="Use categorical_crossentropy for one-hot labels, or y.argmax(axis=-1).",
        )
    if labels.dtype.kind == "f" and (labels != np.floor(labels)).any():
        raise UsageError(
            "sparse_categorical_crossentropy must get whole class numbers. Received: fractions",
            hint="Use mean_squared_error for real-valued labels.",
        )
    low, high = labels.min(), labels.max()
    if low < 0 or high >= classes:
        raise UsageError(
            f"Labels must be from 0 to {classes - 1} for a model with {classes} outputs. "
            f"Received: {low} to {high}",
            hint="Give the last layer one unit for each class, or number the classes from 0.",
        )


def _check_shape(
    received: tuple[int, ...], expected: tuple[int | None, ...], index: int, inputs: int
) -> None:
    sample, wanted = received[1:], expected[1:]
    if (
        _fits(sample, wanted)
        or _fits((*sample, 1), wanted)
        or (sample[-1:] == (1,) and _fits(sample[:-1], wanted))
    ):
        return
    name = "Input" if inputs == 1 else f"Input {index}"
    text = f"{name} must have the shape {wanted} for each sample. Received: {sample}"
    if len(sample) == 3 and _fits((*sample[1:], sample[0]), wanted):
        raise UsageError(text, hint="The channels come first in the data: x = x.transpose(0, 2, 3, 1).")
    if len(sample) == 3 and _fits((sample[2], *sample[:2]), wanted):
        raise UsageError(
            text, hint="The channels come last in the data; give the model channels-last shapes."
        )
    raise UsageError(text, hint="Change keras.Input in create_model() or the arrays of load_data().")


def _fits(sample: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    return len(sample) == len(wanted) and all(w in (None, s) for s, w in zip(sample, wanted, strict=True))


def _check_kind(leaf: Any, name: str) -> None:
    if not len(leaf.shape):
        raise UsageError(
            f"{name} must have one entry for each sample. Received: a single value",
            hint="Look at what load_data() returns.",
        )
    if np.dtype(getattr(leaf.dtype, "as_numpy_dtype", leaf.dtype)).kind == "O":
        raise UsageError(
            f"{name} must hold numbers or text. Received: an array of Python objects, shape {leaf.shape}",
            hint="Make all samples equally long, then np.stack(samples); or return a tf.data.Dataset.",
        )


def _check_finite(leaf: Any, name: str) -> None:
    dtype = np.dtype(getattr(leaf.dtype, "as_numpy_dtype", leaf.dtype))
    if dtype.kind != "f":
        return
    samples = int(leaf.shape[0])
    bytes_in_all = samples * math.prod(leaf.shape[1:]) * dtype.itemsize
    stride = max(1, math.ceil(bytes_in_all / _FINITE_CHECK_BYTES))
    block = max(1, samples // 64)
    for begin in range(0, samples, block):
        values = np.asarray(leaf[begin : begin + block : stride])
        if not np.isfinite(values).all():
            bad = np.argwhere(~np.isfinite(values))[0]
            where = (begin + int(bad[0]) * stride, *(int(i) for i in bad[1:]))
            raise UsageError(
                f"{name} must be finite. Received: {values[tuple(bad)]} at index {where}",
                hint="Remove or replace these samples: one of them turns all weights into NaN.",
            )


def _loss_name(loss: Any) -> str:
    """Return Keras' function name of a loss given as text, function or object; of others an own name."""
    if isinstance(loss, keras.losses.Loss):
        # A person may name the object as they like; its class says what it is.
        loss = _LOSS_CLASSES.get(type(loss).__name__, "")
    name = loss if isinstance(loss, str) else str(getattr(loss, "__name__", ""))
    return {"mse": "mean_squared_error", "mae": "mean_absolute_error"}.get(name, name)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]


def _shapes(arrays: list[Any]) -> str:
    return ", ".join(f"{array.dtype} {tuple(array.shape)}" for array in arrays)
