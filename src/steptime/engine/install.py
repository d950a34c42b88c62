"""Makes `keras.Model.fit`, `evaluate` and `predict` ours for a whole program, and takes it back."""

import functools
from typing import Any

import keras

from steptime.engine import private_keras
from steptime.engine.evaluate import run_evaluate, run_predict
from steptime.engine.fit import run_fit
from steptime.engine.request import EvaluateRequest, FitRequest, PredictRequest


def install() -> None:
    """Replaces `fit`, `evaluate` and `predict` of `keras.Model`; a class that overrides them keeps its own.

    Calling it twice changes nothing more.
    """
    keras.Model.fit = _fit
    keras.Model.evaluate = _evaluate
    keras.Model.predict = _predict


def uninstall() -> None:
    """Gives `keras.Model` its own `fit`, `evaluate` and `predict` back."""
    for name in ("fit", "evaluate", "predict"):
        if name in vars(keras.Model):
            delattr(keras.Model, name)


# An override that calls its parent arrives here too, so overriding is no reason to hand back to Keras.


# Programs read the signature of these methods, so each looks like the one it replaces.


@functools.wraps(private_keras.stock("fit"))
def _fit(self: keras.Model, *args: Any, **kwargs: Any) -> keras.callbacks.History:
    return run_fit(self, FitRequest(*args, **kwargs), check_override=False)


@functools.wraps(private_keras.stock("evaluate"))
def _evaluate(self: keras.Model, *args: Any, **kwargs: Any) -> Any:
    if "_use_cached_eval_dataset" in kwargs:
        return private_keras.stock("evaluate")(self, *args, **kwargs)
    return run_evaluate(self, EvaluateRequest(*args, **kwargs), check_override=False)


@functools.wraps(private_keras.stock("predict"))
def _predict(self: keras.Model, *args: Any, **kwargs: Any) -> Any:
    return run_predict(self, PredictRequest(*args, **kwargs), check_override=False)
