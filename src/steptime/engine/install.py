"""Makes `keras.Model.fit`, `evaluate` and `predict` ours for a whole program, and takes it back."""

import functools
import os
import sys
import warnings
from typing import Any

import keras

from steptime.engine import private_keras
from steptime.engine.evaluate import run_evaluate, run_predict
from steptime.engine.fit import run_fit
from steptime.engine.request import EvaluateRequest, FitRequest, PredictRequest


def install() -> None:
    """Replaces `fit`, `evaluate` and `predict` of `keras.Model`; a class that overrides them keeps its own.

    Calling it twice changes nothing more, nor does calling it in a script that `steptime run` executes, where
    they are replaced already. Models of Keras 2 (`tf_keras`) stay as they are, which a warning says.
    """
    if "tf_keras" in sys.modules or os.environ.get("TF_USE_LEGACY_KERAS") == "1":
        warnings.warn("Models of Keras 2 (tf_keras) are not accelerated: that takes Keras 3.", stacklevel=2)
    for name, method in (("fit", fit), ("evaluate", evaluate), ("predict", predict)):
        if name not in vars(keras.Model):
            setattr(keras.Model, name, method)


def uninstall() -> None:
    """Gives `keras.Model` its own `fit`, `evaluate` and `predict` back."""
    for name in ("fit", "evaluate", "predict"):
        if name in vars(keras.Model):
            delattr(keras.Model, name)


# An override that calls its parent arrives here too, so overriding is no reason to hand back to Keras.


# Programs read the signature of these methods, so each looks like the one it replaces.


@functools.wraps(private_keras.stock("fit"))
@private_keras.filter_traceback
def fit(self: keras.Model, *args: Any, **kwargs: Any) -> keras.callbacks.History:
    """Takes the place of `keras.Model.fit`."""
    return run_fit(self, FitRequest(*args, **kwargs), check_override=False)


@functools.wraps(private_keras.stock("evaluate"))
@private_keras.filter_traceback
def evaluate(self: keras.Model, *args: Any, **kwargs: Any) -> Any:
    """Takes the place of `keras.Model.evaluate`."""
    if "_use_cached_eval_dataset" in kwargs:
        return private_keras.stock("evaluate")(self, *args, **kwargs)
    return run_evaluate(self, EvaluateRequest(*args, **kwargs), check_override=False)


@functools.wraps(private_keras.stock("predict"))
@private_keras.filter_traceback
def predict(self: keras.Model, *args: Any, **kwargs: Any) -> Any:
    """Takes the place of `keras.Model.predict`."""
    return run_predict(self, PredictRequest(*args, **kwargs), check_override=False)
