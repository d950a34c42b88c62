"""`steptime.fit`: Keras' own training, executed as fast as the machine allows."""

from pathlib import Path
from typing import Any

import keras

from steptime.engine import stock_fit, support
from steptime.engine.assembly import LOOPS
from steptime.engine.checkpoints.policy import Checkpoints, checkpoints_of
from steptime.engine.observer import Observer
from steptime.engine.request import FitRequest
from steptime.engine.training import Training
from steptime.errors import UsageError


def fit(  # noqa: PLR0913, PLR0917  # Keras' own arguments, in Keras' order
    model: keras.Model,
    x: Any = None,
    y: Any = None,
    batch_size: int | None = None,
    epochs: int = 1,
    verbose: Any = "auto",
    callbacks: Any = None,
    validation_split: float = 0.0,
    validation_data: Any = None,
    shuffle: bool | str = True,
    class_weight: dict[int, float] | None = None,
    sample_weight: Any = None,
    initial_epoch: int = 0,
    steps_per_epoch: int | None = None,
    validation_steps: int | None = None,
    validation_batch_size: int | None = None,
    validation_freq: int | list[int] = 1,
    *,
    loop: str = "auto",
    exact_kernels: bool | str = "auto",
    seed: int | None = None,
    observer: Observer | None = None,
    checkpoint: str | Path | Checkpoints | None = None,
) -> keras.callbacks.History:
    """Trains a compiled model exactly as `keras.Model.fit` does, in less time.

    All arguments but the last five are those of `keras.Model.fit` and mean the same.

    Args:
        model: A compiled Keras model.
        x: Inputs; arrays, tensors, a tf.data data set, a generator or a PyDataset.
        y: Targets.
        batch_size: Samples in a step; 32 when not given.
        epochs: Number of the last epoch, from 1.
        verbose: 0, 1, 2 or "auto".
        callbacks: Keras callbacks.
        validation_split: Share of the samples, from the end, kept for validation.
        validation_data: Data for validation after an epoch.
        shuffle: Whether arrays are put in a fresh full order each epoch; "batch" shuffles within batches.
        class_weight: Weight by class.
        sample_weight: Weight by sample.
        initial_epoch: Epoch to start at, from 0.
        steps_per_epoch: Steps in an epoch; needed for endless data.
        validation_steps: Steps in a validation.
        validation_batch_size: Samples in a validation step.
        validation_freq: Epochs between validations, or a list of epochs from 1.
        loop: "auto" measures and chooses; "graph" and "xla" name a way of executing the steps; "keras" is Keras'
            own `fit` untouched, which also orders the samples by itself and takes no notice of `seed`.
        exact_kernels: Whether batch normalisation and Adam may run as TensorFlow's fused operations with the
            same result: "auto" where measured faster, True with `loop="graph"` always, False never.
        seed: What the order of the samples is derived from, with the number of the epoch. When not given it is
            drawn so that `keras.utils.set_random_seed` repeats it.
        observer: Is told how long everything took.
        checkpoint: A folder, or `steptime.Checkpoints`: the training is kept there, and goes on from there as if
            it had never been interrupted. With it `loop="keras"` is Keras' train function called once a step
            and the samples are ordered by `seed`, since Keras' own order cannot be resumed.

    Returns:
        Keras' History of this fit; its attribute `steptime` is a `FitReport`.

    Raises:
        UsageError: `loop` or `exact_kernels` is none of the values above, or `checkpoint` cannot be done.
        ValueError: Whatever Keras raises for its own arguments.
    """
    request = FitRequest(
        x,
        y,
        batch_size,
        epochs,
        verbose,
        callbacks,
        validation_split,
        validation_data,
        shuffle,
        class_weight,
        sample_weight,
        initial_epoch,
        steps_per_epoch,
        validation_steps,
        validation_batch_size,
        validation_freq,
        loop=loop,
        exact_kernels=exact_kernels,
        seed=seed,
        observer=observer,
        checkpoint=checkpoint,
    )
    return run_fit(model, request, check_override=True)


def run_fit(model: keras.Model, request: FitRequest, *, check_override: bool) -> keras.callbacks.History:
    """Does what `fit` says.

    Args:
        model: The model.
        request: The arguments.
        check_override: Whether a class that overrides `fit` gets its own called.
    """
    _check(request.loop, request.exact_kernels)
    checkpoints = checkpoints_of(request.checkpoint)
    data = (request.x, request.y, request.sample_weight, request.validation_data)
    reason = support.why_arguments(request) or support.why_stock(model, data, check_override=check_override)
    if checkpoints is not None and reason is not None:
        _cannot_be_kept(checkpoints, reason)
    if reason is None and request.loop == "keras" and checkpoints is None:
        # Whoever names this loop wants what Keras does, such as the baseline of a comparison: all of it.
        reason = "as asked"
    if reason is not None:
        return stock_fit.run(model, request, reason, check_override=check_override)
    return Training(model, request, checkpoints).run()


def _cannot_be_kept(checkpoints: Checkpoints, reason: str) -> None:
    """Refuses, or says that there will be no checkpoints."""
    if checkpoints.required:
        raise UsageError(
            f"checkpoint needs a fit that steptime executes itself. Received: {reason}",
            hint="Leave checkpoint out, or use keras.callbacks.BackupAndRestore, which does not resume exactly.",
        )
    if checkpoints.tell is not None:
        checkpoints.tell(f"no checkpoints: only Keras' own fit can do this one ({reason})")


def _check(loop: str, exact_kernels: bool | str) -> None:
    named = ("auto", *(name for name in LOOPS if "+" not in name))
    if loop not in named:
        raise UsageError(
            f"expected loop to be one of {', '.join(named)}, received {loop!r}",
            hint="leave it out to have the fastest measured and chosen",
        )
    if exact_kernels not in (True, False, "auto"):
        raise UsageError(
            f"expected exact_kernels to be True, False or 'auto', received {exact_kernels!r}",
            hint="leave it out to have fused operations used where they are measured to be faster",
        )
