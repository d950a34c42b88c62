"""The state of a training as arrays and plain values: taken, and put back. Writes and reads no files.

Nothing here knows how many devices there are: a variable is read and assigned as TensorFlow offers it, so a
checkpoint can be put back on one device or on several.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np
import tensorflow as tf

import steptime
from steptime.engine import memory
from steptime.engine.checkpoints import callbacks as memories
from steptime.engine.checkpoints.state import TrainingState
from steptime.engine.checkpoints.values import encode
from steptime.engine.checkpoints.variables import Named, read
from steptime.errors import UsageError

Arrays = list[np.ndarray[Any, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What was copied.

    Attributes:
        arrays: Values of the variables, and after them what logs and callbacks hold.
        variables: Name, dtype and shape of each variable.
        logs: As JSON types.
        callbacks: Class name and memory of each callback, as JSON types.
    """

    arrays: Arrays
    variables: tuple[tuple[str, str, tuple[int, ...]], ...]
    logs: Any
    callbacks: Any


def take(
    variables: Sequence[Named],
    callbacks: Iterable[keras.callbacks.Callback],
    logs: Mapping[str, Any],
    warn: Callable[[str], None],
) -> Taken:
    """Copies everything that a training depends on; waits for the device. `warn` is told what cannot be kept."""
    arrays = read(variables)
    specs = tuple((v.name, tf.as_dtype(v.variable.dtype).name, tuple(v.variable.shape)) for v in variables)
    encoded = encode(dict(logs), arrays)
    return Taken(
        arrays=arrays, variables=specs, logs=encoded, callbacks=memories.take(callbacks, arrays, warn)
    )


def versions(replicas: int = 1) -> dict[str, str]:
    """Of everything that bits depend on.

    Args:
        replicas: Copies of the model that train in step: sums over another number of shares round differently.
    """
    return {
        **({} if replicas == 1 else {"number of replicas": str(replicas)}),
        "steptime": steptime.__version__,
        "keras": keras.__version__,
        "tensorflow": tf.__version__,
        "device": memory.device_name(),
    }


def differing_variables(kept: TrainingState, now: Sequence[Named]) -> list[str]:
    """Says which variables differ between a checkpoint and a model."""
    then = {name: f"{dtype}{list(shape)}" for name, dtype, shape in kept.variables}
    have = {v.name: v.text.removeprefix(f"{v.name} ") for v in now}
    return [
        f"variable {name}: {then.get(name, 'missing')} in the checkpoint, {have.get(name, 'missing')} now"
        for name in dict.fromkeys([*then, *have])
        if then.get(name) != have.get(name)
    ]


def put_back_variables(
    kept: TrainingState, arrays: Arrays, variables: Sequence[Named], *, allow_different: bool
) -> list[str]:
    """Assigns the values of a checkpoint to variables of the same names.

    Args:
        kept: The checkpoint.
        arrays: Its arrays.
        variables: All variables of the model as it is now.
        allow_different: Whether variables may be missing on either side.

    Returns:
        The differences, in words.

    Raises:
        UsageError: A variable is missing or has another shape.
    """
    different = differing_variables(kept, variables)
    shapes = {name: shape for name, _, shape in kept.variables}
    other_shape = any(v.name in shapes and shapes[v.name] != tuple(v.variable.shape) for v in variables)
    if different and (not allow_different or other_shape):
        raise UsageError(
            f"The model must have the variables of the checkpoint. {'; '.join(different[:10])}",
            hint="Go on with the model that was trained, or start anew in another folder.",
        )
    values = dict(zip(shapes, arrays, strict=False))
    for named in variables:
        if named.name in values:
            named.variable.assign(values[named.name].astype(tf.as_dtype(named.variable.dtype).as_numpy_dtype))
    return different


def scale_iterations(variables: Sequence[Named], now: int, then: int) -> None:
    """Counts an optimizer's steps in those of now, where gradients are accumulated over other numbers of steps.

    Args:
        variables: After they were put back.
        now: Steps to an update.
        then: Steps to an update when the checkpoint was taken.
    """
    for named in variables if now != then else ():
        if named.name.endswith("/iteration"):
            named.variable.assign(named.variable * now // then)
