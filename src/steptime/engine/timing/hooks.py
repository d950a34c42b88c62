"""Times the hooks of callbacks where they are called, without changing how often they are called."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import keras

_BATCH_HOOKS = ("on_train_batch_begin", "on_train_batch_end", "on_batch_begin", "on_batch_end")
_EPOCH_HOOKS = ("on_epoch_begin", "on_epoch_end")


@dataclass(slots=True)
class HookTimes:
    """Time spent in the hooks of one callback.

    Attributes:
        callback: The callback.
        batch_ns: In its batch hooks.
        epoch_ns: In its epoch hooks.
        epochs: How often its end-of-epoch hook was called.
    """

    callback: keras.callbacks.Callback
    batch_ns: int = 0
    epoch_ns: int = 0
    epochs: int = 0


class _TimedHook:
    """A hook that is timed. It looks like the one it stands for: the engine judges callbacks by `__func__`."""

    def __init__(self, hook: Callable[..., Any], told: Callable[[int], None]) -> None:
        self._hook = hook
        self._told = told
        self.__func__ = getattr(hook, "__func__", hook)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        start_ns = time.perf_counter_ns()
        try:
            return self._hook(*arguments, **keywords)
        finally:
            self._told(time.perf_counter_ns() - start_ns)


def time_hooks(callbacks: Sequence[keras.callbacks.Callback]) -> list[HookTimes]:
    """Put timers around the batch and epoch hooks that the callbacks have of their own.

    Args:
        callbacks: They keep the timers.
    """
    times = [HookTimes(callback) for callback in callbacks]
    for item in times:
        for hook in (*_BATCH_HOOKS, *_EPOCH_HOOKS):
            if _has_own(item.callback, hook):
                timed = _TimedHook(getattr(item.callback, hook), _told(item, hook))
                vars(item.callback)[hook] = timed
    return times


def _has_own(callback: keras.callbacks.Callback, hook: str) -> bool:
    """Whether the class overrides the hook, or the object has one, as a LambdaCallback does."""
    overridden = getattr(type(callback), hook, None) is not getattr(keras.callbacks.Callback, hook, None)
    return overridden or hook in vars(callback)


def _told(item: HookTimes, hook: str) -> Callable[[int], None]:
    def batch(duration_ns: int) -> None:
        item.batch_ns += duration_ns

    def epoch(duration_ns: int) -> None:
        item.epoch_ns += duration_ns
        item.epochs += hook == "on_epoch_end"

    return batch if hook in _BATCH_HOOKS else epoch
