"""`steptime.evaluate` and `steptime.predict`: Keras' own, as compiled loops."""

import dataclasses
from typing import Any

import keras

from steptime.engine import private_keras, support
from steptime.engine.cadence import watches_predict_batches, watches_test_batches
from steptime.engine.distribution.group import group_of
from steptime.engine.evaluation import Evaluation
from steptime.engine.prediction import Prediction
from steptime.engine.request import EvaluateRequest, PredictRequest


def evaluate(  # noqa: PLR0913, PLR0917  # Keras' own arguments, in Keras' order
    model: keras.Model,
    x: Any = None,
    y: Any = None,
    batch_size: int | None = None,
    verbose: Any = "auto",
    sample_weight: Any = None,
    steps: int | None = None,
    callbacks: Any = None,
    return_dict: bool = False,
) -> Any:
    """Loss and metrics of a compiled model, as `keras.Model.evaluate` returns them.

    Args:
        model: A compiled Keras model.
        x: Inputs; arrays, tensors, a tf.data data set, a generator or a PyDataset.
        y: Targets.
        batch_size: Samples in a step; 32 when not given.
        verbose: 0, 1, 2 or "auto".
        sample_weight: Weights of samples.
        steps: Steps, when not all data are meant.
        callbacks: Keras callbacks.
        return_dict: Whether to return the metrics by name.

    Returns:
        A number, a list of numbers in the order of `model.metrics_names`, or a dictionary.

    Raises:
        ValueError: Whatever Keras raises for its own arguments.
    """
    request = EvaluateRequest(x, y, batch_size, verbose, sample_weight, steps, callbacks, return_dict)
    return run_evaluate(model, request, check_override=True)


def predict(
    model: keras.Model,
    x: Any,
    batch_size: int | None = None,
    verbose: Any = "auto",
    steps: int | None = None,
    callbacks: Any = None,
) -> Any:
    """Outputs of a model, as `keras.Model.predict` returns them.

    Arrays are predicted by a compiled loop; other data, and callbacks that watch every batch, by Keras' own.

    Args:
        model: A Keras model.
        x: Inputs.
        batch_size: Samples in a step; 32 when not given.
        verbose: 0, 1, 2 or "auto".
        steps: Steps, when not all data are meant.
        callbacks: Keras callbacks.

    Returns:
        Arrays in the structure of the model's outputs; first axis: samples.
    """
    return run_predict(model, PredictRequest(x, batch_size, verbose, steps, callbacks), check_override=True)


def run_evaluate(model: keras.Model, request: EvaluateRequest, *, check_override: bool) -> Any:
    """Does what `evaluate` says.

    Args:
        model: The model.
        request: The arguments.
        check_override: Whether a class that overrides `evaluate` gets its own called.
    """
    data = (request.x, request.y, request.sample_weight)
    if support.why_stock_evaluate(model, data, check_override=check_override) is not None:
        call = private_keras.own_or_stock(model, "evaluate", check_override=check_override)
        return call(**_arguments(request))
    evaluation = Evaluation(
        model, *data, batch_size=request.batch_size, steps=request.steps, free_batch_size=False
    )
    group = group_of(model)
    verbose = request.verbose if group is None or group.is_chief else 0
    callbacks = private_keras.callback_list(model, request.callbacks, verbose, evaluation.num_batches)
    logs = evaluation.run(callbacks, every_batch=watches_test_batches(callbacks.callbacks))
    return logs if request.return_dict else private_keras.in_metric_order(model, logs)


def run_predict(model: keras.Model, request: PredictRequest, *, check_override: bool) -> Any:
    """Does what `predict` says.

    Args:
        model: The model.
        request: The arguments.
        check_override: Whether a class that overrides `predict` gets its own called.
    """
    prediction = None
    if request.steps is None and not support.why_stock_predict(
        model, request.x, check_override=check_override
    ):
        prediction = Prediction.of(model, request.x, request.batch_size)
    if prediction is not None:
        callbacks = private_keras.callback_list(
            model, request.callbacks, request.verbose, prediction.num_batches
        )
        if not watches_predict_batches(callbacks.callbacks):
            return prediction.run(callbacks)
    call = private_keras.own_or_stock(model, "predict", check_override=check_override)
    return call(**_arguments(request))


def _arguments(request: EvaluateRequest | PredictRequest) -> dict[str, Any]:
    return {f.name: getattr(request, f.name) for f in dataclasses.fields(request)}
