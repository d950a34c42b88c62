"""Which callbacks act in a process that is not the chief."""

from typing import Any

import keras

# These write files or to the terminal, or send: once is enough.
_WRITERS = (
    keras.callbacks.ProgbarLogger,
    keras.callbacks.TensorBoard,
    keras.callbacks.CSVLogger,
    keras.callbacks.ModelCheckpoint,
    keras.callbacks.RemoteMonitor,
    *([keras.callbacks.OrbaxCheckpoint] if hasattr(keras.callbacks, "OrbaxCheckpoint") else []),
)


class RestoreOnly(keras.callbacks.Callback):  # type: ignore[misc]  # untyped in Keras
    """`BackupAndRestore` where another process writes the backup: reads it at the start, and no more.

    Args:
        backup: The callback as the person made it.
    """

    def __init__(self, backup: keras.callbacks.BackupAndRestore) -> None:
        super().__init__()
        self._backup = backup

    def on_train_begin(self, logs: Any = None) -> None:
        """Restores weights and epoch if there is a backup."""
        self._backup.set_model(self.model)
        self._backup.on_train_begin(logs)


def of_follower(callbacks: Any) -> list[keras.callbacks.Callback]:
    """The callbacks of a process that is not the chief: all but those that write."""
    given = [] if callbacks is None else callbacks if isinstance(callbacks, (list, tuple)) else [callbacks]
    kept = [callback for callback in given if not isinstance(callback, _WRITERS)]
    return [
        RestoreOnly(callback) if isinstance(callback, keras.callbacks.BackupAndRestore) else callback
        for callback in kept
    ]
