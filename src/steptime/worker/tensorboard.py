"""TensorBoard events of a run: curves, speed, learning rate, and hyper-parameters for the HParams page."""

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import tensorflow as tf
from tensorboard.plugins.hparams import api as hparams

from steptime.plan.settings import Settings

_VALIDATION_PREFIX = "val_"


class Board:
    """Writes scalars once an epoch: training and validation as two curves of the same name.

    A full disk ends the writing with one warning, never the training.

    Args:
        folder: Of the events.
        settings: Shown as hyper-parameters.
        workload: Its name.
        tell: Takes the warning.
    """

    def __init__(self, folder: Path, settings: Settings, workload: str, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._is_open = True
        self._train = tf.summary.create_file_writer(str(folder / "train"))
        self._validation_folder = folder / "validation"
        self._validation: Any = None
        values = {item.name: getattr(settings, item.name) for item in dataclasses.fields(settings)}
        shown = {key: value for key, value in values.items() if value is not None and key != "name"}
        with self._surviving(), self._train.as_default():
            hparams.hparams({"workload": workload, **shown})

    def epoch(self, epoch: int, logs: Mapping[str, float], extra: Mapping[str, float | None]) -> None:
        """Write one epoch.

        Args:
            epoch: Its number, counted from 0.
            logs: Loss and metrics; names that begin with ``val_`` belong to validation.
            extra: Further scalars, such as ``learning_rate``; None is left out.
        """
        train = {key: value for key, value in logs.items() if not key.startswith(_VALIDATION_PREFIX)}
        validation = {
            key.removeprefix(_VALIDATION_PREFIX): value
            for key, value in logs.items()
            if key.startswith(_VALIDATION_PREFIX)
        }
        if not self._is_open:
            return
        speed = {f"steptime/{key}": value for key, value in extra.items() if value is not None}
        scalars = {**{f"epoch/{key}": value for key, value in train.items()}, **speed}
        with self._surviving():
            self._write(self._train, epoch, scalars)
            if validation:
                if self._validation is None:
                    self._validation = tf.summary.create_file_writer(str(self._validation_folder))
                self._write(self._validation, epoch, {f"epoch/{key}": v for key, v in validation.items()})

    def close(self) -> None:
        """Flush and close the files."""
        for writer in (self._train, self._validation):
            if writer is not None:
                with self._surviving():
                    writer.close()

    @contextlib.contextmanager
    def _surviving(self) -> Iterator[None]:
        try:
            yield
        except (OSError, tf.errors.OpError) as error:
            if self._is_open:
                self._tell(f"TensorBoard's curves end here: {' '.join(str(error).split())[:200]}")
            self._is_open = False

    def _write(self, writer: Any, epoch: int, scalars: Mapping[str, float]) -> None:
        with writer.as_default():
            for name, value in scalars.items():
                tf.summary.scalar(name, float(value), step=epoch)
        writer.flush()
