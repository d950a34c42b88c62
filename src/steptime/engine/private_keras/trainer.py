"""The trainer: what `fit`, `evaluate` and `predict` are made of."""

import functools
import warnings
from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf
from keras.src.backend.tensorflow.trainer import TFEpochIterator
from keras.src.utils import python_utils, traceback_utils
from tensorflow.python.framework import config as tf_config


def stock(name: str) -> Callable[..., Any]:
    """Keras' own `fit`, `evaluate` or `predict`, whatever `steptime.install` put in `keras.Model`."""
    after_model = keras.Model.__mro__[keras.Model.__mro__.index(keras.Model) + 1 :]
    owner = next(cls for cls in after_model if name in vars(cls))
    method: Callable[..., Any] = getattr(owner, name)
    return method


def overrides(model: keras.Model, name: str) -> bool:
    """Whether the person's class replaces the method `name` of Keras' trainer."""
    found = getattr(type(model), name)
    return found is not stock(name) and found is not getattr(keras.Model, name)


def filter_traceback(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, whose errors show as few frames of Keras and TensorFlow as those of Keras' own methods."""
    filtered: Callable[..., Any] = traceback_utils.filter_traceback(function)
    return filtered


def own_or_stock(model: keras.Model, name: str, *, check_override: bool) -> Callable[..., Any]:
    """The person's override of `name` if there is one and it counts, else Keras' own, bound to the model."""
    if check_override and isinstance(model, keras.Model) and overrides(model, name):
        override: Callable[..., Any] = getattr(model, name)
        return override
    return functools.partial(stock(name), model)


def is_foreign_function(function: Any) -> bool:
    """Whether `model.train_function` (or test, predict) was put there by the person and not by Keras."""
    name = getattr(function, "__qualname__", "")
    made_by_keras = "TensorFlowTrainer." in name or "tensorflow.python" in type(function).__module__
    return function is not None and not made_by_keras


def make_function(model: keras.Model, step: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Keras' train or test function around `step`: takes an iterator, runs one step, returns its logs."""
    function: Callable[[Any], Any] = model._make_function(step)
    return function


def make_predict_function(model: keras.Model) -> Callable[[Any], Any]:
    """Keras' own predict function; takes a list of batches."""
    model.make_predict_function(force=True)
    function: Callable[[Any], Any] = model.predict_function
    return function


def limit_epochs(epochs: int) -> int:
    """`epochs`, capped by `keras.config.set_max_epochs` where this Keras has it."""
    read = getattr(keras.config, "max_epochs", None)
    cap = read() if read else None
    if cap and cap < epochs:
        warnings.warn(f"Limiting epochs to {cap}", stacklevel=2)
        return int(cap)
    return epochs


def limit_steps(steps: int | None) -> int | None:
    """`steps` per epoch, capped by `keras.config.set_max_steps_per_epoch` where this Keras has it."""
    read = getattr(keras.config, "max_steps_per_epoch", None)
    cap = read() if read else None
    if cap and (not steps or cap < steps):
        warnings.warn(f"Limiting steps_per_epoch to {cap}", stacklevel=2)
        return int(cap)
    return steps


def initial_epoch(model: keras.Model, given: int) -> int:
    """The epoch a callback such as `BackupAndRestore` asked to start from, else `given`."""
    return int(model._initial_epoch or given)


def should_evaluate(model: keras.Model, epoch: int, frequency: int | list[int]) -> bool:
    """Whether `validation_freq` asks for a validation after `epoch` (counted from 0)."""
    return bool(model._should_eval(epoch, frequency))


def epoch_logs(model: keras.Model, logs: Any) -> Any:
    """The metrics' values at the end of an epoch, or `logs` where a custom step returns other names."""
    return model._get_metrics_result_or_logs(logs)


def in_metric_order(model: keras.Model, logs: dict[str, float]) -> Any:
    """What `evaluate` returns without `return_dict`."""
    return model._flatten_metrics_in_order(logs)


def python_logs(logs: Any) -> Any:
    """`logs` with tensors turned to Python numbers: this waits for the device."""
    return python_utils.pythonify_logs(logs)


def own_strategy(model: keras.Model) -> Any:
    """The `tf.distribute` strategy in whose scope the model was made; None for none."""
    return getattr(model, "_distribute_strategy", None)


def has_strategy(model: keras.Model) -> bool:
    """Whether the model was built under a `tf.distribute` strategy, or one is entered now."""
    return model._distribute_strategy is not None or tf.distribute.has_strategy()


def is_determinism_enabled() -> bool:
    """Whether `tf.config.experimental.enable_op_determinism` was called."""
    return bool(tf_config.is_op_determinism_enabled())


def cache_validation(model: keras.Model, **arguments: Any) -> None:
    """Keeps the validation data's iterator between epochs where Keras' own `fit` keeps it."""
    if getattr(model, "_eval_epoch_iterator", None) is None:
        model._eval_epoch_iterator = TFEpochIterator(
            distribute_strategy=model.distribute_strategy,
            steps_per_execution=model.steps_per_execution,
            shuffle=False,
            **arguments,
        )


def evaluate_cached(model: keras.Model, **arguments: Any) -> dict[str, Any]:
    """`evaluate` as Keras' own `fit` calls it, on the iterator kept by `cache_validation`."""
    evaluate = own_or_stock(model, "evaluate", check_override=True)
    logs: dict[str, Any] = evaluate(**arguments, return_dict=True, _use_cached_eval_dataset=True)
    return logs


def forget_validation(model: keras.Model) -> None:
    """Drops the iterator kept by `cache_validation`."""
    if getattr(model, "_eval_epoch_iterator", None) is not None:
        del model._eval_epoch_iterator
