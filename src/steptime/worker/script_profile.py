"""Profiles the first ``fit`` that a script calls: the script runs as it is until then, and ends there."""

import dataclasses
import functools
import runpy
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from steptime.engine import private_keras
from steptime.engine.request import FitRequest
from steptime.errors import UsageError
from steptime.plan.settings import Settings
from steptime.record.schema import Job
from steptime.worker.data import Part
from steptime.worker.job import Data, describe_job
from steptime.worker.loading import guarded

_DEFAULT_BATCH = 32  # Keras' own


Profile = Callable[[keras.Model, Data, Job, list[keras.callbacks.Callback], Settings], None]


class _Profiled(BaseException):
    """The fit was profiled; no code of the script may go on as if it had trained."""


def profile_first_fit(
    script: Path, script_arguments: Sequence[str], settings: Settings, profile: Profile
) -> None:
    """Run a script until its first ``fit`` and profile that.

    Args:
        script: A Python file.
        script_arguments: The words that follow it.
        settings: How it is to be trained, where the script does not say so itself.
        profile: Called with the compiled model and what its fit asks for.

    Raises:
        UsageError: The script never called ``fit``.
        RunError: Its own code failed before.
    """

    @functools.wraps(private_keras.stock("fit"))
    def fit(model: keras.Model, *arguments: Any, **keywords: Any) -> None:
        # The profile trains by `fit` itself.
        del keras.Model.fit
        request = FitRequest(*arguments, **keywords)
        own, data = settings_of(request, settings), data_of(request)
        profile(model, data, describe_job(model, data, own, None), callbacks_of(request), own)
        raise _Profiled

    former = sys.argv, list(sys.path)
    sys.argv = [str(script), *script_arguments]
    sys.path.insert(0, str(script.parent))
    keras.Model.fit = fit
    try:
        guarded(lambda: runpy.run_path(str(script), run_name="__main__"), f"Running {script.name}")
    except _Profiled:
        return
    finally:
        sys.argv, sys.path[:] = former
        if "fit" in vars(keras.Model):
            del keras.Model.fit
    raise UsageError(
        f"The script must call fit on a Keras model. {script.name} ended without it",
        hint="Profile a file that trains; functions that are only defined are not called.",
    )


def data_of(request: FitRequest) -> Data:
    """Return the data of a fit in the form of a workload's."""
    training = _part(request.x, request.y, request.sample_weight)
    validation = None
    if request.validation_data is not None:
        given = request.validation_data
        validation = _part(*given) if isinstance(given, (tuple, list)) else _part(given)
    x, y = training.first_batch(request.batch_size or _DEFAULT_BATCH)
    return Data(training=training, validation=validation, x=x, y=y)


def settings_of(request: FitRequest, settings: Settings) -> Settings:
    """Return the settings with what the script says itself."""
    frequency = request.validation_freq
    return dataclasses.replace(
        settings,
        epochs=int(request.epochs),
        batch_size=request.batch_size or _DEFAULT_BATCH,
        steps_per_epoch=request.steps_per_epoch,
        shuffle=bool(request.shuffle),
        validation_split=request.validation_split or 0.0,
        validation_batch_size=request.validation_batch_size,
        validation_freq=frequency if isinstance(frequency, int) else 1,
    )


def callbacks_of(request: FitRequest) -> list[keras.callbacks.Callback]:
    """Return the callbacks of a fit as a list."""
    given = request.callbacks
    if isinstance(given, keras.callbacks.CallbackList):
        return list(given.callbacks)
    return [] if given is None else list(given) if isinstance(given, (list, tuple)) else [given]


def _part(x: Any, y: Any = None, sample_weight: Any = None) -> Part:
    streams = (tf.data.Dataset, keras.utils.PyDataset)
    if isinstance(x, streams) or hasattr(x, "__next__"):
        return Part(stream=x)
    return Part(x=x, y=y, sample_weight=sample_weight)
