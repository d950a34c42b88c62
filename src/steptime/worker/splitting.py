"""Trains each batch in equal parts whose mean gradient makes one update: less memory for the same update.

Keras does the accumulation (`gradient_accumulation_steps` of an optimizer); what it does differently from whole batches
is said in the notes.
"""

import dataclasses
from typing import Any

import keras
import tensorflow as tf

from steptime.engine import private_keras
from steptime.errors import RunError
from steptime.plan.plan import Plan
from steptime.plan.settings import Settings
from steptime.worker.data import Part, leaves, slice_of
from steptime.worker.job import Data


@keras.saving.register_keras_serializable(package="steptime")
class PerUpdate(keras.optimizers.schedules.LearningRateSchedule):  # type: ignore[misc]  # untyped in Keras
    """A schedule that counts updates where Keras counts the steps between them as well.

    Args:
        schedule: The schedule as it was meant.
        steps: Steps an update.
    """

    def __init__(self, schedule: Any, steps: int) -> None:
        super().__init__()
        self.schedule, self.steps = schedule, steps

    def __call__(self, step: Any) -> Any:
        """Return the rate for a count of steps."""
        return self.schedule(keras.ops.floor_divide(step, self.steps))

    def get_config(self) -> dict[str, Any]:
        """Return what makes an equal schedule."""
        return {"schedule": keras.saving.serialize_keras_object(self.schedule), "steps": self.steps}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "PerUpdate":
        """Make one from its configuration."""
        return cls(keras.saving.deserialize_keras_object(config["schedule"]), config["steps"])


def step_settings(plan: Plan) -> Settings:
    """Return the settings with the sizes of a step, which differ from those of an update in a split run."""
    settings = plan.settings
    if plan.split == 1:
        return settings
    steps = settings.steps_per_epoch
    return dataclasses.replace(
        settings,
        batch_size=max(settings.batch_size // plan.split, 1),
        steps_per_epoch=None if steps is None else steps * plan.split,
    )


def split_data(data: Data, split: int) -> Data:
    """Return the data in batches a ``split``-th as large; arrays are cut by the settings.

    Raises:
        RunError: They come in batches of their own that cannot be cut.
    """
    stream = data.training.stream
    if stream is None or split == 1:
        return data
    size = None if data.x is None else leaves(data.x)[0].shape[0]
    if not isinstance(stream, tf.data.Dataset) or not size or size % split:
        raise RunError(
            f"Half the batch needs arrays, or a tf.data.Dataset whose batches can be cut in {split}. "
            f"Received: {type(stream).__name__} with {size or 'unknown'} samples a batch",
            hint="Let the workload make smaller batches.",
        )
    return dataclasses.replace(
        data,
        training=Part(stream=stream.rebatch(size // split)),
        x=slice_of(data.x, size // split),
        y=None if data.y is None else slice_of(data.y, size // split),
    )


def split_updates(model: keras.Model, split: int) -> tuple[str, ...]:
    """Let ``split`` steps make one update, and return what a person should know, in words.

    Args:
        model: Compiled; its optimizer has made no variables yet.
        split: Steps an update; 1 changes nothing.

    Raises:
        RunError: The update would not be the same.
    """
    if split == 1:
        return ()
    optimizer = getattr(model.optimizer, "inner_optimizer", model.optimizer)
    reason = _why_not(model, optimizer)
    if reason:
        raise RunError(
            f"Half the batch must make the same update. {reason}", hint="Use a smaller --batch-size."
        )
    optimizer.gradient_accumulation_steps = (optimizer.gradient_accumulation_steps or 1) * split
    schedule = optimizer._learning_rate
    if isinstance(schedule, keras.optimizers.schedules.LearningRateSchedule):
        optimizer._learning_rate = PerUpdate(schedule, split)
    return _differences(model, optimizer, split)


def _why_not(model: keras.Model, optimizer: keras.optimizers.Optimizer) -> str | None:
    if optimizer.built:
        return "The workload has built its optimizer already, which then takes no accumulators"
    sums = [loss for loss in tf.nest.flatten(model.loss) if getattr(loss, "reduction", None) == "sum"]
    if sums:
        return f"The loss {type(sums[0]).__name__} sums over samples, and Keras takes the mean over steps"
    return None


def _differences(model: keras.Model, optimizer: keras.optimizers.Optimizer, split: int) -> tuple[str, ...]:
    said = []
    normalised = [
        layer.name for layer in private_keras.flatten_layers(model) if "BatchNorm" in type(layer).__name__
    ]
    if normalised:
        said.append(
            f"batch normalisation ({normalised[0]}) now takes its statistics from each part of a batch"
        )
    if optimizer.use_ema:
        said.append(f"Keras moves the average of the weights at every step, {split} times an update")
    return tuple(said)
