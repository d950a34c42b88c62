"""The arguments of one `fit`, `evaluate` or `predict`, kept together.

Fields are in the order of Keras' arguments, so that a call meant for `keras.Model` can be taken as it is.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Any

from steptime.engine.observer import Observer


@dataclass(frozen=True, slots=True)
class FitRequest:
    """Names and meanings are those of `keras.Model.fit`, and after them of `steptime.fit`."""

    x: Any = None
    y: Any = None
    batch_size: int | None = None
    epochs: int = 1
    verbose: Any = "auto"
    callbacks: Any = None
    validation_split: float = 0.0
    validation_data: Any = None
    shuffle: bool | str = True
    class_weight: dict[int, float] | None = None
    sample_weight: Any = None
    initial_epoch: int = 0
    steps_per_epoch: int | None = None
    validation_steps: int | None = None
    validation_batch_size: int | None = None
    validation_freq: int | list[int] = 1
    _: KW_ONLY
    loop: str = "auto"
    exact_kernels: bool | str = "auto"
    seed: int | None = None
    observer: Observer | None = None
    checkpoint: Any = None
    # Ends with an InfiniteLossError at the first loss that is NaN or infinite; Keras goes on.
    stop_on_infinite_loss: bool = False


@dataclass(frozen=True, slots=True)
class EvaluateRequest:
    """Names and meanings are those of `keras.Model.evaluate`."""

    x: Any = None
    y: Any = None
    batch_size: int | None = None
    verbose: Any = "auto"
    sample_weight: Any = None
    steps: int | None = None
    callbacks: Any = None
    return_dict: bool = False


@dataclass(frozen=True, slots=True)
class PredictRequest:
    """Names and meanings are those of `keras.Model.predict`."""

    x: Any
    batch_size: int | None = None
    verbose: Any = "auto"
    steps: int | None = None
    callbacks: Any = None
