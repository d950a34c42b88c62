"""Everything a training step may change, as values that can be put back and compared."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

Values = list[np.ndarray[Any, Any]]


def size_bytes(variables: Sequence[tf.Variable]) -> int:
    """Memory that a copy of the variables takes, in bytes."""
    return sum(math.prod(v.shape) * v.dtype.size for v in variables)


def read(variables: Sequence[tf.Variable]) -> Values:
    """Copies of the variables' values, in host memory."""
    return [np.array(variable.numpy(), copy=True) for variable in variables]


def write(variables: Sequence[tf.Variable], values: Values) -> None:
    """Puts copied values back."""
    for variable, value in zip(variables, values, strict=True):
        variable.assign(value)


def update_errors(before: Values, expected: Values, got: Values) -> list[float]:
    """How far each variable's update by one step deviates from the expected update.

    An update is compared as a whole: root mean square of the difference over root mean square of the update.
    Element by element would be wrong for Adam, whose step is near the learning rate even where the gradient
    is rounding noise.

    Args:
        before: Values before the step.
        expected: Values after Keras' own step.
        got: Values after the other loop's step.

    Returns:
        One number for each variable; infinite where integers differ or one is finite and the other is not.
    """
    return [_update_error(b, e, g) for b, e, g in zip(before, expected, got, strict=True)]


def overall_error(before: Values, expected: Values, got: Values) -> float:
    """The same for all floating-point variables taken together."""
    floats = [i for i, value in enumerate(expected) if is_real(value)]
    sides = ([np.ravel(v[i]).astype(np.float64) for i in floats] for v in (before, expected, got))
    b, e, g = (np.concatenate(side) if side else np.zeros(1) for side in sides)
    return _update_error(b, e, g)


def is_real(value: Any) -> bool:
    """Whether an array holds real numbers: NumPy's floating types, and bfloat16, which is none of them."""
    return bool(np.issubdtype(value.dtype, np.floating)) or value.dtype.name == "bfloat16"


def _update_error(before: Any, expected: Any, got: Any) -> float:
    if not is_real(expected):
        return 0.0 if np.array_equal(expected, got) else math.inf
    b, e, g = (np.asarray(v, dtype=np.float64) for v in (before, expected, got))
    if not np.array_equal(np.isfinite(e), np.isfinite(g)):
        return math.inf
    finite = np.isfinite(e) & np.isfinite(b)
    b, e, g = b[finite], e[finite], g[finite]
    # Rounding of the value itself bounds what an update can show: eps * |value|.
    rounding = float(np.finfo(np.float32).eps) * _root_mean_square(e)
    scale = max(_root_mean_square(e - b), 10.0 * rounding, 1e-12)
    return _root_mean_square(g - e) / scale


def _root_mean_square(values: Any) -> float:
    return float(np.sqrt(np.mean(np.square(values)))) if values.size else 0.0
