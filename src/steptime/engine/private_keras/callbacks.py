"""Callbacks: when they need control."""

from typing import Any

import keras


def callback_list(model: keras.Model, callbacks: Any, verbose: Any, steps: int | None) -> Any:
    """The callbacks of an `evaluate` or `predict`, as Keras makes them."""
    if isinstance(callbacks, keras.callbacks.CallbackList):
        return callbacks
    return keras.callbacks.CallbackList(
        callbacks, add_progbar=verbose != 0, verbose=verbose, epochs=1, steps=steps, model=model
    )


def steps_until_save(callback: Any) -> int | None:
    """Batches until a callback with `save_freq=N` saves; None for every other callback."""
    frequency = getattr(callback, "save_freq", None)
    seen = getattr(callback, "_batches_seen_since_last_saving", None)
    if not isinstance(frequency, int) or seen is None:
        return None
    return int(frequency - seen)


def writes_every_batch(callback: keras.callbacks.TensorBoard) -> bool:
    """Whether a TensorBoard callback writes or profiles within epochs."""
    every_batch = callback.update_freq != "epoch" or callback.write_steps_per_second
    return bool(every_batch or callback._should_trace)
