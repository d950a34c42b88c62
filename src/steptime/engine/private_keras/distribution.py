"""What Keras decides for `tf.distribute` where it must be decided otherwise, or earlier."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import keras
import tensorflow as tf
from keras.src.losses import loss as loss_module


def build_state(model: keras.Model, batch_spec: Any) -> None:
    """Makes all variables that training needs, metrics and optimizer included; call it inside the scope.

    Keras makes them while the first step is traced, and under `MultiWorkerMirroredStrategy` that fails.

    Args:
        model: A compiled model.
        batch_spec: Specification of one batch as the model's step takes it.
    """
    model._symbolic_build(data_batch=tf.nest.map_structure(_with_open_batch, batch_spec))


def _with_open_batch(spec: Any) -> Any:
    """Keras builds from symbolic tensors; what a generator marks as absent is none."""
    if not isinstance(spec, tf.TensorSpec):
        return None
    return spec if spec.shape.rank is None else tf.TensorSpec([None, *spec.shape[1:]], spec.dtype)


def metric_results(model: keras.Model) -> dict[str, Any]:
    """The values of all metrics; outside `strategy.run` those of all replicas together."""
    results: dict[str, Any] = model.get_metrics_result()
    return results


def metric_variables(model: keras.Model) -> list[Any]:
    """The variables of all metrics, as TensorFlow's."""
    return [variable.value for variable in model.metrics_variables]


def local_step_builder(model: keras.Model, name: str) -> Callable[[Any], Any]:
    """`train_step` or `test_step` as a function of a batch that may hold Keras' mark of absent values."""
    step = getattr(model, name)
    wrapped: Callable[[Any], Any] = model._autoconvert_optionals(step)
    return wrapped


@contextlib.contextmanager
def loss_shares(share: Callable[[], Any], once: Callable[[], Any]) -> Iterator[None]:
    """While a step is traced: a replica's loss counts for its part in that of all, instead of one over their number.

    Keras divides each replica's loss by the number of replicas. That is the loss of one device only where all have
    the same number of samples, valid tokens or weights, and a sum it does not divide at all.

    Args:
        share: Called in a replica; its samples over those of all replicas.
        once: Called in a replica; one over the number of replicas that compute the same samples as it does.
    """
    names = "scale_loss_for_distribution", "unscale_loss_for_distribution", "reduce_weighted_values"
    former = {name: getattr(loss_module, name) for name in names}

    def scale(value: Any) -> Any:
        return value * tf.cast(share(), value.dtype)

    def unscale(value: Any) -> Any:
        return value / tf.cast(share(), value.dtype)

    def reduce(
        values: Any, sample_weight: Any = None, mask: Any = None, reduction: Any = "mean", dtype: Any = None
    ) -> Any:
        loss = former["reduce_weighted_values"](values, sample_weight, mask, reduction, dtype)
        if reduction in (None, "none", "sum"):
            return loss * tf.cast(once(), loss.dtype)
        if sample_weight is None and mask is None and len(values.shape) == 0:
            # Keras leaves as it is what a function has reduced itself: a mean, as the reduction says.
            return scale(loss)
        divisor = _own_divisor(sample_weight, mask, reduction)
        if divisor is None:
            return loss
        counted = tf.stop_gradient(divisor * tf.cast(once(), divisor.dtype))
        of_all = tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, counted)
        return unscale(loss) * tf.cast(tf.math.divide_no_nan(counted, of_all), loss.dtype)

    shadows = dict(zip(names, (scale, unscale, reduce), strict=True))
    vars(loss_module).update(shadows)
    try:
        yield
    finally:
        vars(loss_module).update(former)


def _own_divisor(sample_weight: Any, mask: Any, reduction: str) -> Any:
    """What Keras divides a replica's loss by where that is no multiple of its samples; else None."""
    if reduction == "mean_with_sample_weight" and (sample_weight is not None or mask is not None):
        weight = None if sample_weight is None else tf.cast(sample_weight, tf.float32)
        kept = None if mask is None else tf.cast(mask, tf.float32)
        return tf.reduce_sum(loss_module.apply_mask(weight, kept, "float32", reduction))
    return None if mask is None else tf.reduce_sum(tf.cast(mask, tf.float32))


@contextlib.contextmanager
def noted_assignments(noted: dict[int, Any]) -> Iterator[None]:
    """Puts every Keras variable that is assigned inside into `noted`, by its identity."""
    former = keras.Variable._direct_assign

    def assign(variable: Any, value: Any) -> None:
        noted[id(variable)] = variable
        former(variable, value)

    keras.Variable._direct_assign = assign
    try:
        yield
    finally:
        keras.Variable._direct_assign = former


@contextlib.contextmanager
def reduced_gradients(model: keras.Model) -> Iterator[None]:
    """While a step is traced: gradients are summed over replicas before the optimizer looks at them.

    Keras sums them at the very end, so that clipping sees the gradients of one replica, and accumulation calls
    across replicas from inside a condition, which `tf.distribute` refuses. Summed first, they are what one
    device would have, and each replica applies them to its own copy of the weights.
    """
    outer = model.optimizer
    if outer is None:
        yield
        return
    is_scaled = isinstance(outer, keras.optimizers.LossScaleOptimizer)
    inner = outer.inner_optimizer if is_scaled else outer
    shadows: dict[tuple[Any, str], Callable[..., Any]] = {(inner, "_all_reduce_sum_gradients"): _as_it_is}
    if is_scaled:
        apply_scaled = outer._tf_apply

        def apply_summed(grads: Any, variables: Any = None) -> None:
            apply_scaled(_summed(grads), variables)

        shadows[outer, "_tf_apply"] = apply_summed
    apply = inner._backend_apply_gradients

    def apply_locally(grads: Any, variables: Any) -> None:
        summed = grads if is_scaled else _summed(grads)
        with _without_merging():
            apply(summed, variables)

    shadows[inner, "_backend_apply_gradients"] = apply_locally
    with contextlib.ExitStack() as restore:
        for (target, name), method in shadows.items():
            vars(target)[name] = method
            restore.callback(vars(target).pop, name, None)
        yield


def _as_it_is(pairs: Any) -> Any:
    return pairs


def _summed(grads: Any) -> list[Any]:
    context = tf.distribute.get_replica_context()
    # Gradients of embeddings as whole tensors: TensorFlow exchanges rows by a collective that fails when their number
    # changes from one step to the next, as that of an uneven last batch does.
    present = [tf.convert_to_tensor(g) for g in grads if g is not None]
    reduced = iter(context.all_reduce(tf.distribute.ReduceOp.SUM, present))
    return [None if g is None else next(reduced) for g in grads]


@contextlib.contextmanager
def _without_merging() -> Iterator[None]:
    """Variables are updated by each replica for itself: also inside conditions, and without waiting."""
    extended = tf.distribute.get_strategy().extended
    extended._use_merge_call = lambda: False
    try:
        yield
    finally:
        del extended._use_merge_call


class NotDistributed:
    """Stands for a strategy where Keras would spread a data set over replicas, and leaves it whole."""

    @staticmethod
    def experimental_distribute_dataset(dataset: Any) -> Any:
        """Returns `dataset`."""
        return dataset
