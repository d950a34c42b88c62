"""The callbacks a workload brings, and how they are kept from doing harm where a job is only profiled."""

import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import keras

from steptime.errors import UsageError
from steptime.plan.workload import Workload
from steptime.worker.loading import guarded, workload_function

FUNCTION = "create_callbacks"
# Attributes in which Keras' callbacks keep where they write.
_PATHS = ("filepath", "filename", "log_dir", "_log_write_dir")


def own_callbacks(module: ModuleType, workload: Workload) -> list[keras.callbacks.Callback]:
    """Call ``create_callbacks()`` of a workload that has one.

    Raises:
        UsageError: It does not return a list of Keras callbacks.
        RunError: It failed.
    """
    if not hasattr(module, FUNCTION):
        return []
    returned = guarded(workload_function(module, FUNCTION, workload), f"{FUNCTION}()")
    callbacks = [returned] if isinstance(returned, keras.callbacks.Callback) else returned
    is_list = isinstance(callbacks, (list, tuple))
    if not is_list or not all(isinstance(item, keras.callbacks.Callback) for item in callbacks):
        raise UsageError(
            f"{FUNCTION}() must return a list of Keras callbacks. Received: {type(returned).__name__}",
            hint="For example: return [keras.callbacks.EarlyStopping(patience=2)]",
        )
    return list(callbacks)


def harmless(
    callbacks: list[keras.callbacks.Callback], folder: Path
) -> tuple[list[keras.callbacks.Callback], dict[str, str]]:
    """Return callbacks that write into ``folder`` instead of over a person's files, and why others are left out.

    Args:
        callbacks: A person's own.
        folder: Where files may be written; made when needed.
    """
    kept, left_out = [], {}
    for callback in callbacks:
        if isinstance(callback, keras.callbacks.BackupAndRestore):
            left_out["callbacks.BackupAndRestore"] = (
                "left out: it would restore and then delete a person's backup"
            )
            continue
        for attribute in _PATHS:
            path = getattr(callback, attribute, None)
            if isinstance(path, (str, Path)) and str(path):
                folder.mkdir(parents=True, exist_ok=True)
                setattr(callback, attribute, str(folder / Path(path).name))
        kept.append(callback)
    return kept, left_out


def saves_model(callback: Any) -> bool:
    """Whether a callback writes the model, as far as its class or its code tell."""
    if isinstance(callback, keras.callbacks.ModelCheckpoint):
        return True
    try:
        source = inspect.getsource(type(callback))
    except (OSError, TypeError):
        return False
    return ".save(" in source or ".save_weights(" in source
