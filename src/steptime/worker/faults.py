"""What ended a training: memory, data, or a loss that is not finite, with the place and the numbers."""

import dataclasses
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import keras

from steptime import units
from steptime.engine import footprint
from steptime.engine.infinite import InfiniteLossError
from steptime.engine.last_good import go_back
from steptime.errors import RunError, SteptimeError
from steptime.record.out_of_memory import needed_bytes
from steptime.record.schema import Fault
from steptime.worker.loading import first_line, is_out_of_memory

# The operation that reads the next batch, in TensorFlow's messages.
_READING = "IteratorGetNext"
# Keras' own function, in which the read and the step are one graph.
_KERAS_STEP = "multi_step_on_iterator"
_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (.+)')
# "ValueError: what it said", followed by the traceback that TensorFlow carries along.
_RAISED = re.compile(r"([A-Za-z_][\w.]*): ([^\n]*)\nTraceback \(most recent call last\)")


class FaultError(RunError):
    """A training ended by a fault that its record describes.

    Args:
        message: As for every error.
        hint: As for every error.
        fault: What is known of it.
        keeps_model: Whether the weights are those of the last good step.
    """

    def __init__(self, message: str, *, hint: str, fault: Fault, keeps_model: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.fault = fault
        self.keeps_model = keeps_model
        self.phase = "train"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a training was: ``epoch`` and ``step`` count from 0; None where it is not known."""

    epoch: int | None
    step: int | None
    in_validation: bool = False

    def __str__(self) -> str:
        if self.in_validation and self.epoch is not None:
            return f"the validation after epoch {self.epoch + 1}"
        step = "" if self.step is None else f"batch {self.step + 1} of "
        return "training" if self.epoch is None else f"{step}epoch {self.epoch + 1}"


def fault_of(
    error: Exception,
    place: Place,
    model: keras.Model,
    batch_size: int | None,
    device: str,
    checkpoints: Path,
) -> FaultError | None:
    """Return the fault that an exception of a training stands for, or None when it is none of them.

    Args:
        error: What was raised.
        place: Where the training was.
        model: What was trained.
        batch_size: Samples a step, where it is known.
        device: ``cpu`` or ``gpu:N``.
        checkpoints: Their folder; after a loss that is not finite, the last good weights are put back from there.
    """
    if isinstance(error, SteptimeError):
        return None
    if isinstance(error, InfiniteLossError):
        return _not_finite(error, go_back(model, checkpoints, error.batch))
    if is_out_of_memory(error):
        return _out_of_memory(error, place, model, batch_size, "CPU:0" if device == "cpu" else "GPU:0")
    return _in_data(error, place)


def iterations_of(model: keras.Model) -> int | None:
    """Return how many steps the optimizer has made; None where there is no such count."""
    optimizer = getattr(model.optimizer, "inner_optimizer", model.optimizer)
    count = getattr(optimizer, "_iterations", None)  # `iterations` counts updates
    return None if count is None else int(count.numpy())


def _not_finite(error: InfiniteLossError, back: tuple[str, ...]) -> FaultError:
    details = (*error.findings, *back)
    first, last = error.steps
    step = last if first == last else None
    place: object = Place(epoch=error.epoch, step=step)
    if step is None:
        place = f"one of batches {first + 1} to {last + 1} of epoch {error.epoch + 1}"
    return FaultError(
        f"The loss must be finite. It became {error.loss} in {place}: {'; '.join(details)}",
        hint="Try a smaller --learning-rate, or clip gradients; --set on_nan=continue goes on as Keras does.",
        fault=Fault(kind="not finite", epoch=error.epoch, step=step, details=details),
        keeps_model=bool(back),
    )


def _in_data(error: BaseException, place: Place) -> FaultError | None:
    """Return what is known of data that failed while they were read; None when something else failed."""
    text = str(error)
    if _READING not in text:
        return None
    if _KERAS_STEP in text and place.step:
        # The optimizer's count does not wait for the data: TensorFlow runs it beside the read that fails.
        place = dataclasses.replace(place, step=place.step - 1)
    raised = _RAISED.search(text)
    frames: list[re.Match[str]] = []
    if raised:
        frames = [match for match in _FRAME.finditer(text, raised.start()) if _is_own(match[1])]
    said = f"{raised[1]}: {raised[2]}" if raised else f"{type(error).__name__}: {_words_of(text)}"
    where = f" ({frames[-1][1]}, line {frames[-1][2]}, in {frames[-1][3].strip()})" if frames else ""
    return FaultError(
        f"Reading {place} failed: {said}{where}",
        hint="The whole traceback is in worker.log. What was trained until then is kept.",
        fault=Fault(
            kind="data",
            epoch=place.epoch,
            step=place.step,
            details=tuple(f"{match[1]}, line {match[2]}, in {match[3].strip()}" for match in frames),
        ),
        keeps_model=True,
    )


def _out_of_memory(
    error: BaseException, place: Place, model: keras.Model, batch_size: int | None, device: str
) -> FaultError:
    needed = needed_bytes(str(error))
    left = footprint.available_bytes(device)
    largest = footprint.largest_batch(model, left)
    if largest is not None and batch_size is not None:
        # What has just failed does not fit, whatever the estimate says.
        largest = min(largest, batch_size - 1)
    asked = f"{type(error).__name__}: {first_line(error)}"
    if needed is not None:
        asked = f"an allocation of {units.size_bytes(needed)} failed with {units.size_bytes(left)} left on {device}"
    fits = ""
    if largest is not None and batch_size is not None:
        fits = f"; of {batch_size} samples a step about {largest} would fit (estimate)"
    return FaultError(
        f"out of memory in {place}: {asked}{fits}",
        hint="Use a smaller --batch-size, or --on-oom halve to go on with half the batch by itself.",
        fault=Fault(
            kind="out of memory",
            epoch=place.epoch,
            step=place.step,
            needed_bytes=needed,
            available_bytes=left,
            largest_batch=largest,
        ),
    )


def _words_of(text: str) -> str:
    """Return what TensorFlow says, without the names of nodes and the stack where the graph was defined."""
    plain = re.sub(r"\{\{[^}]*\}\}|\[\[.*?\]\]|\[Op:\w+\]( name:)?", "", text)
    lines = [line.strip() for line in plain.splitlines()]
    noise = ("File ", "<", "Graph execution error", "Detected at node")
    return next((line for line in lines if line and not line.startswith(noise)), "no message")[:300]


def _is_own(file: str) -> bool:
    """Whether a file belongs to the person: neither a library's, nor Python's, nor steptime's."""
    own_package = str(Path(__file__).parent.parent)
    return not (file.startswith((own_package, sys.base_prefix, "<")) or "site-packages" in file)
