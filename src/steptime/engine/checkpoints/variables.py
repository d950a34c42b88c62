"""All variables of a training, by name: weights, random seeds, metrics, optimizers, and what a step touches."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np
import tensorflow as tf


@dataclass(frozen=True, slots=True)
class Named:
    """A variable under a name that a fresh process gives it again."""

    name: str
    variable: Any

    @property
    def text(self) -> str:
        """Name, dtype and shape."""
        dtype = tf.as_dtype(self.variable.dtype).name
        return f"{self.name} {dtype}{list(self.variable.shape)}"


def variables_of(model: keras.Model, touched: Iterable[tf.Variable], *, metrics: bool = True) -> list[Named]:
    """Every variable whose value a training depends on, each once, in an order that the code decides.

    Args:
        model: A built model.
        touched: Variables that a traced step reads or writes; among them are those that no model or optimizer
            knows, such as a second optimizer of a person's own `train_step`.
        metrics: Whether those of metrics are among them.
    """
    optimizer = getattr(model, "optimizer", None)
    left_out = set() if metrics else {id(variable) for variable in model.metrics_variables}
    known = [
        *(
            variable
            for variable in (*model.variables, *model.metrics_variables)
            if id(variable) not in left_out
        ),
        *(optimizer.variables if optimizer is not None else ()),
    ]
    found: dict[int, tuple[str, Any]] = {}
    for variable in known:
        found.setdefault(id(variable.value), (variable.path, variable.value))
    for variable in touched:
        found.setdefault(id(variable), (variable.name, variable))
    return _numbered(found.values())


def read(variables: Iterable[Named]) -> list[np.ndarray[Any, Any]]:
    """Copies of the values in host memory; waits for the device."""
    return [np.array(named.variable.numpy(), copy=True) for named in variables]


def _numbered(found: Iterable[tuple[str, Any]]) -> list[Named]:
    """Names without Keras' numbers, which count how often they were used in the process; equal ones are counted."""
    seen: dict[str, int] = {}
    named = []
    for name, variable in found:
        plain = re.sub(r"_\d+(?=_|/|:|$)", "", name)
        seen[plain] = seen.get(plain, 0) + 1
        named.append(Named(plain if seen[plain] == 1 else f"{plain} ({seen[plain]})", variable))
    return named
