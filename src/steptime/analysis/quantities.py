"""What is measured in one run of a comparison: each quantity, or why it is not known."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from steptime.analysis.interval import Measured
from steptime.analysis.steady import SteadyState, find_steady
from steptime.analysis.target import Target, time_to_target_s
from steptime.record.schema import RunRecord
from steptime.record.steps import counting
from steptime.record.stored import StoredRun

Array = npt.NDArray[np.float64]
Value = Measured | str  # a value, or why there is none

# Parts of a run in the order in which they happen -> the phases of the record that make them.
PARTS: Mapping[str, tuple[str, ...]] = {
    "starting": ("start",),
    "importing TensorFlow": ("import",),
    "the script's own code": ("script",),
    "loading data": ("data",),
    "building, compiling": ("build", "compile", "inspect"),
    "first steps": ("warmup",),
    "training": ("train",),
    "between steps": (),
    "validating": ("validate",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunMeasures:
    """One run that ended well.

    Attributes:
        steady: Its steady state, in seconds per sample, or per step where samples are not known.
        values: Each quantity by its key.
        parts_s: Seconds of each part of the run.
    """

    steady: SteadyState | None
    values: Mapping[str, Value]
    parts_s: Mapping[str, float]


def measure(run: StoredRun, target: Target | None, *, per_sample: bool) -> RunMeasures:
    """Measure one run.

    Args:
        run: A run that ended well.
        target: The target to time, if any.
        per_sample: Whether times are divided by samples, not steps; then arms with unlike batches compare.
    """
    record = run.record
    mask, times_s = step_times(run.steps)
    steady, values = None, _no_steps()
    if mask.any():
        steps, samples = run.steps["steps"][mask], run.steps["samples"][mask]
        divisor = samples / steps if per_sample else 1.0
        steady = find_steady(times_s[mask] / divisor)
        values = _step_values(record, steady, times_s[mask], steps, samples, per_sample=per_sample)
    parts = _parts(run)
    values["total_s"] = Measured(value=sum(parts.values())) if parts else "the record has no phases"
    if target is not None:
        seconds = time_to_target_s(record, target)
        values["target_s"] = Measured(value=seconds) if isinstance(seconds, float) else seconds
    values |= _resources(record)
    return RunMeasures(steady=steady, values=values, parts_s=parts)


def step_times(steps: Mapping[str, "np.ndarray[Any, Any]"]) -> tuple["npt.NDArray[np.bool_]", Array]:
    """Return which blocks count (see ``record.steps.counting``), and the time per step of every block in seconds.

    A block's time runs from the end of the block before it, so that callbacks and waits between steps count;
    the first block of an epoch has its own duration.

    Args:
        steps: The columns of steps.npz.

    Returns:
        A mask and times, both of shape (n blocks,).
    """
    if not len(steps.get("duration_ns", ())):
        return np.zeros(0, np.bool_), np.zeros(0)
    duration_ns = steps["duration_ns"].astype(np.float64)
    if "end_ns" in steps:
        spacing_ns = np.diff(steps["end_ns"], prepend=0).astype(np.float64)
        follows = np.concatenate([[False], np.diff(steps["epoch"]) == 0])
        duration_ns = np.where(follows, np.maximum(spacing_ns, duration_ns), duration_ns)
    # What came between a compiling block and its successor still belongs to the compiling.
    after_compiling = np.concatenate([[False], steps["compiled"][:-1]])
    duration_ns = np.where(after_compiling, steps["duration_ns"], duration_ns)
    return counting(steps), duration_ns / 1e9 / steps["steps"]


def _no_steps() -> dict[str, Value]:
    return dict.fromkeys(("step_s", "samples_per_s", "epoch_s"), "no steady steps were timed")


def _step_values(
    record: RunRecord, steady: SteadyState, times_s: Array, steps: Array, samples: Array, *, per_sample: bool
) -> dict[str, Value]:
    error = steady.median_error or 0.0
    a_step = float(samples.sum() / steps.sum())  # samples
    step_s = steady.median_s * (a_step if per_sample else 1.0)
    # Unlike the median, the time of an epoch contains its stalls.
    mean_s = float(np.average(times_s[steady.first :], weights=steps[steady.first :]))
    in_epoch = record.job.steps_per_epoch if record.job else None
    in_epoch = in_epoch or (record.epochs[0].steps if record.epochs else None)
    return {
        "step_s": Measured(value=step_s, error=error),
        "samples_per_s": Measured(value=a_step / step_s, error=error)
        if a_step
        else "the data do not tell how many samples a step has",
        "epoch_s": Measured(value=mean_s * in_epoch, error=error)
        if in_epoch
        else "the data do not tell how many steps an epoch has",
    }


def _parts(run: StoredRun) -> dict[str, float]:
    phases: dict[str, int] = {}
    for phase in run.record.phases:
        phases[phase.name] = phases.get(phase.name, 0) + phase.duration_ns
    parts = {part: sum(phases.get(name, 0) for name in names) / 1e9 for part, names in PARTS.items()}
    if len(run.steps.get("duration_ns", ())):
        in_steps_s = min(parts["training"], float(run.steps["duration_ns"][1:].sum()) / 1e9)
        around_s = parts["training"] - in_steps_s
        before_s = min(around_s, _before_the_first_step_s(run, parts))
        parts["first steps"] += before_s
        parts["training"] = in_steps_s
        parts["between steps"] = around_s - before_s
    return parts if phases else {}


def _before_the_first_step_s(run: StoredRun, parts: Mapping[str, float]) -> float:
    """Return how long the training was prepared: data put on the device, functions made."""
    if "end_ns" not in run.steps:
        return 0.0
    first_begin_s = float(run.steps["end_ns"][0] - run.steps["duration_ns"][0]) / 1e9
    begin_s = sum(parts[part] for part in list(PARTS)[: list(PARTS).index("first steps")])
    return max(0.0, first_begin_s - begin_s)


def _resources(record: RunRecord) -> dict[str, Value]:
    validations = [epoch.validate_ns for epoch in record.epochs if epoch.validate_ns]
    memory = record.memory
    process = memory.peak_process_bytes if memory else None
    device = memory.peak_device_bytes if memory else None
    why_no_device = record.unavailable.get("memory.peak_device_bytes", "it was not recorded")
    values: dict[str, Value] = {
        "validation_s": Measured(value=float(np.median(validations)) / 1e9)
        if validations
        else "there was no validation",
        "peak_process_bytes": Measured(value=float(process)) if process else "it was not recorded",
        "peak_device_bytes": Measured(value=float(device)) if device else why_no_device,
    }
    known = [use.energy_j for use in record.devices if use.energy_j]
    silent = [use.name for use in record.devices if not use.energy_j]
    reasons = "; ".join(
        f"{name}: {record.unavailable.get(f'devices.{name}.energy_j', 'no reading')}" for name in silent
    )
    for use in record.devices:
        if use.energy_j:
            values[f"energy_j.{use.name}"] = Measured(value=use.energy_j)
    # A sum over fewer devices than worked would look like a saving.
    values["energy_j"] = (
        Measured(value=sum(known)) if known and not silent else reasons or "no device was sampled"
    )
    return values
