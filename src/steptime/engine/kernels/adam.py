"""`keras.optimizers.Adam`, `AdamW` and `Adamax` by TensorFlow's `ResourceApplyAdam` and its kin.

Nadam is not here: Keras gives its momentum a schedule that TensorFlow's Nesterov variant does not have.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import keras
import tensorflow as tf

from steptime.engine import private_keras


def fused_methods(optimizer: keras.optimizers.Optimizer) -> dict[str, Callable[..., Any]] | None:
    """The methods that run each variable's update of a stock optimizer as one operation.

    Clipping, weight decay, gradient accumulation, moving averages and constraints stay Keras' own: they
    surround the update. The operations use Keras' formulas, epsilon placed alike; they compute 1 - beta in
    the variable's type where Keras computes it in Python, so that in float32 the second moment differs by a
    relative 1.3e-5 at beta_2 = 0.999 and the update by half of that.

    Args:
        optimizer: Any optimizer.

    Returns:
        `{"apply": ..., "update_step": ...}`, or None when the optimizer is of no stock class that has an
        equal.
    """
    kernel = _KERNELS.get(type(optimizer))
    if kernel is None:
        return None
    fused = _FusedUpdate(optimizer, kernel)
    return {"apply": fused.apply, "update_step": fused.update_step}


class _Scalars(NamedTuple):
    """What all variables of one type share within one update: tensors without dimensions."""

    lr: tf.Tensor
    beta1: tf.Tensor
    beta2: tf.Tensor
    epsilon: tf.Tensor
    beta1_power: tf.Tensor
    beta2_power: tf.Tensor


class _FusedUpdate:
    """Stands in for two methods of one optimizer while a step is traced."""

    def __init__(self, optimizer: keras.optimizers.Optimizer, kernel: Callable[..., None]) -> None:
        self._optimizer = optimizer
        self._stock_apply = optimizer.apply
        self._stock_update_step = optimizer.update_step
        self._kernel = kernel
        self._shared: dict[tuple[object, tf.DType], _Scalars] | None = None

    def apply(self, *args: Any, **kwargs: Any) -> Any:
        """One whole update, within which bias corrections are computed once, not once a variable."""
        self._shared = {}
        try:
            return self._stock_apply(*args, **kwargs)
        finally:
            self._shared = None

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Updates one variable, of any shape, and its slots."""
        target = variable.value if isinstance(variable, keras.Variable) else variable
        plain = not isinstance(gradient, tf.IndexedSlices) and target.dtype in {tf.float32, tf.float64}
        if not plain or tf.distribute.has_strategy():
            self._stock_update_step(gradient, variable, learning_rate)
            return
        slots = [slot.value.handle for slot in private_keras.optimizer_slots(self._optimizer, variable)]
        scalars = self._scalars(learning_rate, target.dtype)
        self._kernel(target.handle, slots, scalars, tf.cast(gradient, target.dtype))

    def _scalars(self, learning_rate: Any, dtype: tf.DType) -> _Scalars:
        # A tensor made inside one branch of a tf.cond is unknown outside it, so the graph is part of the key.
        key = (tf.compat.v1.get_default_graph(), dtype)
        if self._shared is None:
            return self._compute_scalars(learning_rate, dtype)
        if key not in self._shared:
            self._shared[key] = self._compute_scalars(learning_rate, dtype)
        return self._shared[key]

    def _compute_scalars(self, learning_rate: Any, dtype: tf.DType) -> _Scalars:
        optimizer, name = self._optimizer, dtype.name
        step = keras.ops.cast(optimizer.iterations + 1, name)
        # Keras' cast takes a Python number through float32, its conversion does not. Stock Adam casts the
        # betas it raises to a power and uses the others as they are; so do we, or a float64 model would
        # differ.
        return _Scalars(
            lr=keras.ops.cast(learning_rate, name),
            beta1=keras.ops.convert_to_tensor(optimizer.beta_1, name),
            beta2=keras.ops.convert_to_tensor(optimizer.beta_2, name),
            epsilon=keras.ops.convert_to_tensor(optimizer.epsilon, name),
            beta1_power=tf.pow(keras.ops.cast(optimizer.beta_1, name), step),
            beta2_power=tf.pow(keras.ops.cast(optimizer.beta_2, name), step),
        )


def _apply_adam(variable: tf.Tensor, slots: list[tf.Tensor], scalars: _Scalars, gradient: tf.Tensor) -> None:
    """m, v (and with AMSGrad the largest v) as in Keras; Kingma and Ba's epsilon hat."""
    if len(slots) == 2:
        operation, moments = tf.raw_ops.ResourceApplyAdam, dict(zip(("m", "v"), slots, strict=True))
    else:
        operation = tf.raw_ops.ResourceApplyAdamWithAmsgrad
        moments = dict(zip(("m", "v", "vhat"), slots, strict=True))
    operation(var=variable, **moments, **scalars._asdict(), grad=gradient)


def _apply_adamax(
    variable: tf.Tensor, slots: list[tf.Tensor], scalars: _Scalars, gradient: tf.Tensor
) -> None:
    """Adam with the infinity norm in place of the second moment, which needs no bias correction."""
    arguments = scalars._asdict()
    del arguments["beta2_power"]
    tf.raw_ops.ResourceApplyAdaMax(var=variable, m=slots[0], v=slots[1], **arguments, grad=gradient)


_KERNELS: dict[type, Callable[..., None]] = {
    keras.optimizers.Adam: _apply_adam,
    keras.optimizers.AdamW: _apply_adam,
    keras.optimizers.Adamax: _apply_adamax,
}
