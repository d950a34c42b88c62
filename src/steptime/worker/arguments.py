"""What a training asks of `steptime.fit`, as its settings say."""

from typing import Any

from steptime.plan.settings import Settings
from steptime.worker.job import Data


def fit_arguments(data: Data, settings: Settings) -> dict[str, Any]:
    """Return the arguments of the fit by name, without callbacks, observer and checkpoints.

    Args:
        data: What is trained on and validated with.
        settings: How.
    """
    arguments = data.training.fit_arguments()
    if data.training.stream is None:
        arguments |= {"batch_size": settings.batch_size, "shuffle": settings.shuffle}
    if data.validation is not None:
        arguments["validation_data"] = data.validation.validation_argument()
    elif settings.validation and settings.validation_split:
        arguments["validation_split"] = settings.validation_split
    return arguments | {
        "epochs": settings.epochs,
        "verbose": 0,
        "steps_per_epoch": settings.steps_per_epoch,
        "validation_freq": settings.validation_freq,
        "validation_batch_size": settings.validation_batch_size,
        "loop": settings.loop,
        "exact_kernels": {"auto": "auto", "on": True, "off": False}[settings.exact_kernels],
        "seed": settings.seed,
        "stop_on_infinite_loss": settings.on_nan == "stop",
    }
