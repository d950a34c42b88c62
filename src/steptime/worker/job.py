"""Makes what is trained: data, model and compilation, each checked before the next is begun."""

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import keras
import tensorflow as tf

from steptime.errors import RunError, UsageError
from steptime.plan.plan import Plan
from steptime.plan.settings import Settings
from steptime.plan.workload import Workload
from steptime.record.schema import Job
from steptime.worker.compiling import compile_by_settings
from steptime.worker.data import Part, leaves, read_parts, slice_of
from steptime.worker.loading import guarded, import_workload, workload_function
from steptime.worker.losses import loss_text
from steptime.worker.suitability import check_arrays, check_finite, check_labels, check_model_takes


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """What ``load_data()`` returned, and its first batch.

    Attributes:
        training: The training data.
        validation: The validation data; None when there are none or nobody wants them.
        x: Inputs of the first batch; None when looking at it would use it up.
        y: All targets of arrays, or those of a stream's first batch; None when there are none.
    """

    training: Part
    validation: Part | None
    x: Any
    y: Any


def bring_in(workload: Workload) -> ModuleType:
    """Import the workload.

    Raises:
        UsageError: It cannot be imported: that is wrong input, not a failed run.
    """
    try:
        return import_workload(workload)
    except RunError as error:
        raise UsageError(error.message, hint=error.hint) from error


def load(module: ModuleType, workload: Workload, settings: Settings) -> Data:
    """Call ``load_data()`` and check what it returns.

    Raises:
        UsageError: The data are of no documented form, or unfit for training.
        RunError: ``load_data()`` failed.
    """
    function = workload_function(module, workload.data_function, workload)
    training, validation = read_parts(guarded(function, f"{workload.data_function}()"))
    if not settings.validation:
        validation = None
    check_arrays(training, "training", settings)
    if validation is not None:
        check_arrays(validation, "validation", settings)
    x, y = guarded(lambda: training.first_batch(settings.batch_size), "Reading the first batch")
    if training.stream is None:
        y = training.y
    elif x is not None:
        check_finite(x, "training x")
    return Data(training=training, validation=validation, x=x, y=y)


def build(module: ModuleType, workload: Workload, data: Data) -> tuple[keras.Model, Any]:
    """Call ``create_model()``, build the model on the first batch, and return it with its output's shape.

    Raises:
        UsageError: No Keras model, or it does not fit the data.
        RunError: ``create_model()`` failed.
    """
    create = workload_function(module, workload.model_function, workload)
    model = guarded(create, f"{workload.model_function}()")
    if not isinstance(model, keras.Model):
        raise UsageError(
            f"{workload.model_function}() must return a keras.Model. Received: {type(model).__name__}",
            hint="tf_keras models are Keras 2: build them with `import keras`.",
        )
    shape = getattr(model, "output_shape", None)
    if data.x is not None:
        shape = check_model_takes(model, slice_of(data.x, 2))
    if data.validation is not None and data.validation.stream is None:
        check_model_takes(model, slice_of(data.validation.x, 2))
    return model, shape


def compile_model(
    model: keras.Model, module: ModuleType, plan: Plan, data: Data, output_shape: Any
) -> tuple[str, ...] | None:
    """Compile the model unless the workload did; return what was chosen, in words, or None if it did.

    Raises:
        UsageError: The labels do not fit the loss, or no loss can be chosen.
        RunError: ``compile_model(model)`` failed.
    """
    name = plan.workload.compile_function
    function = getattr(module, name, None)
    if function is not None:
        guarded(lambda: function(model), f"{name}()")
        if not model.compiled:
            raise UsageError(
                f"{name}(model) must call model.compile(...).",
                hint="Or leave the function out, and the settings compile the model.",
            )
    choices = None if model.compiled else compile_by_settings(model, output_shape, data.y, plan.settings)
    check_labels(model, output_shape, data.y)
    if data.validation is not None and data.validation.stream is None:
        check_labels(model, output_shape, data.validation.y)
    return choices


def describe_job(model: keras.Model, data: Data, settings: Settings, choices: tuple[str, ...] | None) -> Job:
    """Return what will be trained, as it turned out; ``choices`` is None when the workload compiled the model."""
    training, validation = data.training, data.validation
    batch_size: int | None = settings.batch_size
    steps = settings.steps_per_epoch
    samples = training.samples
    if training.stream is not None:
        batch_size = None if data.x is None else leaves(data.x)[0].shape[0]
        if isinstance(training.stream, tf.data.Dataset) and steps is None:
            cardinality = int(training.stream.cardinality())
            steps = cardinality if cardinality >= 0 else None
    elif samples is not None and steps is None:
        held_back = int(samples * settings.validation_split) if validation is None else 0
        steps = -(-(samples - held_back) // settings.batch_size)
    return Job(
        model=model.name,
        parameters=model.count_params(),
        train_samples=samples,
        validation_samples=validation.samples if validation else None,
        batch_size=batch_size,
        steps_per_epoch=steps,
        compiled_by="workload" if choices is None else "settings",
        optimizer=type(model.optimizer).__name__,
        loss=loss_text(model),
        choices=choices or (),
    )
