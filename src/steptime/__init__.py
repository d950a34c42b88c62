"""Trains Keras models as fast as the machine allows, proves where and how fast they ran, and says why.

Public names are imported on first use, so that ``import steptime`` costs nothing and never needs TensorFlow.
"""

from importlib import import_module

__version__ = "0.1.0"

# Public name -> module that defines it.
_PUBLIC: dict[str, str] = {
    "fit": "steptime.engine.fit",
    "evaluate": "steptime.engine.evaluate",
    "predict": "steptime.engine.evaluate",
    "Checkpoints": "steptime.engine.checkpoints.policy",
    "StopRequested": "steptime.engine.stop",
    "install": "steptime.engine.install",
    "uninstall": "steptime.engine.install",
    "SteptimeError": "steptime.errors",
    "UsageError": "steptime.errors",
    "DeviceError": "steptime.errors",
    "RecordError": "steptime.errors",
    "RunError": "steptime.errors",
}

__all__ = [  # noqa: RUF022 - the order in which a person meets them
    "__version__",
    "fit",
    "evaluate",
    "predict",
    "Checkpoints",
    "StopRequested",
    "install",
    "uninstall",
    "SteptimeError",
    "UsageError",
    "DeviceError",
    "RecordError",
    "RunError",
]


def __getattr__(name: str) -> object:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    message = f"module 'steptime' has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted(__all__)
