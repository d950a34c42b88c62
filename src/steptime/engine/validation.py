"""Validation inside `fit`."""

from typing import Any

import keras

from steptime.engine import private_keras, support
from steptime.engine.cadence import watches_test_batches
from steptime.engine.evaluation import Evaluation
from steptime.engine.request import FitRequest


class Validation:
    """Evaluates the validation data after an epoch.

    Args:
        model: The model.
        data: Validation data as given.
        request: The fit it belongs to.
        callbacks: The fit's callbacks.
    """

    def __init__(
        self, model: keras.Model, data: Any, request: FitRequest, callbacks: keras.callbacks.CallbackList
    ) -> None:
        self._model = model
        x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(data)
        self._arguments = {
            "x": x,
            "y": y,
            "sample_weight": sample_weight,
            "batch_size": request.validation_batch_size or request.batch_size,
        }
        self._steps = request.validation_steps
        self._callbacks = callbacks
        self._every_batch = watches_test_batches(callbacks.callbacks)
        self._free_batch_size = not self._every_batch and request.validation_batch_size is None
        self._evaluation: Evaluation | None = None
        self._stock = support.why_stock_evaluate(model, data) is not None

    def run(self) -> dict[str, Any]:
        """One validation.

        Returns:
            The metrics by name.
        """
        if self._stock:
            private_keras.cache_validation(self._model, **self._arguments, steps_per_epoch=self._steps)
            return private_keras.evaluate_cached(
                self._model, **self._arguments, steps=self._steps, callbacks=self._callbacks
            )
        if self._evaluation is None:
            self._evaluation = Evaluation(
                self._model, **self._arguments, steps=self._steps, free_batch_size=self._free_batch_size
            )
        return self._evaluation.run(self._callbacks, every_batch=self._every_batch)

    def close(self) -> None:
        """Frees what was kept between epochs."""
        private_keras.forget_validation(self._model)
