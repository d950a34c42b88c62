"""What goes to Keras' own `fit` untouched, and why."""

from typing import Any

import keras
import tensorflow as tf

from steptime.engine import private_keras
from steptime.engine.distribution.group import group_of
from steptime.engine.prediction import PredictFunction
from steptime.engine.request import FitRequest
from steptime.engine.step import StepFunction


def why_stock(model: keras.Model, data: Any, *, check_override: bool = True) -> str | None:
    """Why Keras' own `fit` must do it; None when the engine can.

    Args:
        model: The model.
        data: Nested structure of all inputs of the call.
        check_override: Whether an overridden `fit` counts; not when the call came from there.
    """
    if keras.backend.backend() != "tensorflow":
        return f"the backend of Keras is {keras.backend.backend()}, and only tensorflow is executed here"
    reason = _why_model(model, check_override)
    return reason or _why_data(data)


def why_arguments(request: FitRequest) -> str | None:
    """Why Keras must answer to the arguments itself, since it will refuse them; None when they are plausible."""
    if isinstance(request.batch_size, int) and request.batch_size < 0:
        return f"batch_size is {request.batch_size}"
    return None


def _why_model(model: keras.Model, check_override: bool) -> str | None:
    if not isinstance(model, keras.Model) or not model.compiled:
        return "the model is not compiled"
    if check_override and private_keras.overrides(model, "fit"):
        return f"{type(model).__name__} overrides fit"
    for name in ("make_train_function", "make_test_function"):
        if private_keras.overrides(model, name):
            return f"{type(model).__name__} overrides {name}"
    if _is_foreign(model.train_function):
        return "model.train_function was replaced"
    return _why_settings(model) or _why_strategy(model)


def _is_foreign(function: Any) -> bool:
    return not isinstance(function, (StepFunction, PredictFunction)) and private_keras.is_foreign_function(
        function
    )


def _why_settings(model: keras.Model) -> str | None:
    if model.run_eagerly or tf.config.functions_run_eagerly():
        return "run_eagerly is set: steps run in Python, one operation at a time"
    if model.steps_per_execution != 1:
        return f"steps_per_execution={model.steps_per_execution} was set in compile"
    return None


def _why_strategy(model: keras.Model) -> str | None:
    if not private_keras.has_strategy(model) or group_of(model) is not None:
        return None
    own = private_keras.own_strategy(model)
    if own is None:
        return "the model was made outside the tf.distribute strategy that is entered now"
    return f"the model was made under {type(own).__name__}"


def _why_data(data: Any) -> str | None:
    for value in tf.nest.flatten(data):
        if isinstance(value, tf.RaggedTensor):
            return "the data contain a ragged tensor"
        if isinstance(value, tf.SparseTensor) or _is_scipy_sparse(value):
            return "the data contain a sparse tensor"
        if isinstance(value, (tf.distribute.DistributedDataset, tf.distribute.DistributedIterator)):
            return "the data set is distributed"
    return None


def _is_scipy_sparse(value: Any) -> bool:
    return type(value).__module__.startswith("scipy.sparse")


def why_stock_evaluate(model: keras.Model, data: Any, *, check_override: bool = True) -> str | None:
    """Why Keras' own `evaluate` must do it; None when the engine can."""
    if check_override and isinstance(model, keras.Model) and private_keras.overrides(model, "evaluate"):
        return f"{type(model).__name__} overrides evaluate"
    if isinstance(model, keras.Model) and _is_foreign(model.test_function):
        return "model.test_function was replaced"
    return why_stock(model, data, check_override=False)


def why_stock_predict(model: keras.Model, data: Any, *, check_override: bool = True) -> str | None:
    """Why Keras' own `predict` must do it; None when the engine can."""
    if keras.backend.backend() != "tensorflow" or not isinstance(model, keras.Model):
        return "not a Keras model on TensorFlow"
    for name in ("make_predict_function", *(("predict",) if check_override else ())):
        if private_keras.overrides(model, name):
            return f"{type(model).__name__} overrides {name}"
    if _is_foreign(model.predict_function):
        return "model.predict_function was replaced"
    if private_keras.has_strategy(model):
        return "the model was built under a tf.distribute strategy"
    return _why_settings(model) or _why_data(data)
