"""The record of one run. docs/record.md is generated from this file.

History of the schema:
    1  first version
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from steptime.plan.plan import Plan
from steptime.record.documented import Section, describe_sections
from steptime.record.documented import described as _doc

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What went wrong, where it is one of the faults that a training may survive."""

    kind: str = _doc("out of memory, not finite, data, killed or crashed")
    epoch: int | None = _doc(
        "epoch in which it happened, counted from 0; null outside training", default=None
    )
    step: int | None = _doc(
        "step of the epoch that failed, counted from 0; null when it is not known", default=None
    )
    needed_bytes: int | None = _doc("size of the allocation that failed; null when nobody said", default=None)
    available_bytes: int | None = _doc("memory that was left for it; null when it is not known", default=None)
    used_bytes: int | None = _doc("memory of the worker when it was last looked at", default=None)
    largest_batch: int | None = _doc("estimate of the largest batch that would fit", default=None)
    details: tuple[str, ...] = _doc("what else is known, in words", default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One start of the worker that did not end the run, because it was started again."""

    number: int = _doc("counted from 1")
    phase: str = _doc("the phase in which it ended")
    reason: str = _doc("why it ended, in one line")
    fault: Fault | None = _doc("what went wrong", default=None)
    then: str = _doc("what was done about it, in words", default="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How the run ended."""

    status: str = _doc("ok, interrupted or failed")
    phase: str = _doc("the phase in which it ended; the last one when all went well")
    reason: str | None = _doc("why it did not end well, in one line", default=None)
    hint: str | None = _doc("what to do next, in one line", default=None)
    exit_code: int = _doc(
        "exit code of the command: 0, 2 (wrong use), 3 (failed), 130 (Ctrl-C); a script's own for a script",
        default=0,
    )
    log_tail: tuple[str, ...] = _doc("last lines of worker.log, when it failed", default=())
    fault: Fault | None = _doc(
        "what went wrong, in numbers; null when it is none of those faults", default=None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What the run ran on and with."""

    python: str = _doc("version of Python")
    packages: Mapping[str, str] = _doc("version of each package that matters")
    host: Mapping[str, Any] = _doc(
        "operating system, processor, memory, container; no names of people or hosts"
    )
    gpus: tuple[Mapping[str, Any], ...] = _doc(
        "each GPU that the driver reports, with what it is", default=()
    )
    no_gpu_reason: str | None = _doc("why there is no usable GPU; null when there is one", default=None)
    flags: Mapping[str, str] = _doc(
        "environment variables that change how TensorFlow runs", default_factory=dict
    )
    tensorflow_build: Mapping[str, Any] = _doc("how TensorFlow was built: CUDA, cuDNN", default_factory=dict)
    workload_sha256: str | None = _doc("hash of the workload's source; null when it has none", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What was trained, as it turned out after building model and data."""

    model: str = _doc("name of the Keras model")
    parameters: int = _doc("number of weights, trainable or not")
    train_samples: int | None = _doc("training samples; null when a stream does not tell")
    validation_samples: int | None = _doc("validation samples; null when there are none or it is not known")
    batch_size: int | None = _doc(
        "samples per step; of a stream, those of its first batch; null when it cannot be read"
    )
    steps_per_epoch: int | None = _doc("steps per epoch; null when a stream does not tell")
    compiled_by: str = _doc("workload or settings")
    optimizer: str = _doc("class of the optimizer")
    loss: str = _doc("the loss")
    choices: tuple[str, ...] = _doc("what steptime chose where nobody said, in words", default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """One stretch of the run."""

    name: str = _doc(
        "start, import, join, data, build, compile, inspect, warmup, train, validate, save or profile; or script: its "
        "own code"
    )
    duration_ns: int = _doc("how long it took, by the one monotonic clock")


@dataclass(frozen=True, slots=True, kw_only=True)
class Epoch:
    """One epoch."""

    epoch: int = _doc("number, counted from 0")
    logs: Mapping[str, float | None] = _doc(
        "loss and metrics as Keras' History holds them; null where they are NaN or infinite"
    )
    steps: int = _doc("training steps executed")
    train_ns: int = _doc("time in training steps, without validation")
    validate_ns: int | None = _doc("time in validation; null when there was none")
    end_ns: int | None = _doc(
        "when it ended, validation included, from the start of the process; null when it did not end",
        default=None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTimes:
    """Step times at steady state; the single blocks are in steps.npz."""

    samples_per_s: float | None = _doc("samples per second over the steady blocks")
    step_ns: float | None = _doc("median time of a step over the steady blocks")
    first_block_ns: int | None = _doc("the first block: tracing, compiling and its own steps")
    steady_blocks: int = _doc("number of blocks counted as steady")
    blocks: int = _doc("number of blocks in all")


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Peak memory."""

    peak_process_bytes: int | None = _doc("peak resident memory of the worker process")
    peak_device_bytes: int | None = _doc("peak memory that TensorFlow allocated on the GPU")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceUse:
    """What one device did while the training went on; the single samples are in device.npz."""

    name: str = _doc("cpu, gpu0 or gpu0mig1")
    samples: int = _doc("number of samples during the training")
    utilisation_share: float | None = _doc("mean busy share of the whole device")
    own_utilisation_share: float | None = _doc("the part of it that this run caused")
    other_work_share: float | None = _doc(
        "the part of it that others caused: the machine was busy with other work"
    )
    memory_peak_bytes: int | None = _doc("greatest memory in use at a sample (CPU: by this run)")
    power_mean_w: float | None = _doc("mean power")
    energy_j: float | None = _doc("energy used by the device during the training, by whomever")
    energy_source: str | None = _doc("counter (the hardware counted), or integrated from samples of power")
    energy_idle_j: float | None = _doc("the part of it that was spent while the device was idle")
    temperature_peak_c: float | None = _doc("greatest temperature at a sample")
    clock_mean_mhz: float | None = _doc("mean clock of the cores")
    throttled_share: float | None = _doc("share of the time in which the device was slowed down")
    throttle_shares: Mapping[str, float] = _doc("share of the time for each reason", default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """Where the training step really ran, read from the executed graphs."""

    planned_device: str = _doc(
        "the device the plan asked for, as TensorFlow names it, such as GPU:0; several are joined by commas"
    )
    compute_ops: Mapping[str, int] = _doc("executed floating-point ops of the training step, by device")
    heavy_ops: Mapping[str, tuple[str, ...]] = _doc(
        "matrix products, convolutions and XLA programs, by device"
    )
    variables: Mapping[str, int] = _doc("number of model and optimizer variables, by device")
    contradiction: str | None = _doc("how the proof contradicts the plan; null when it agrees", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The ``fit`` call of a script that a record is about."""

    number: int = _doc("which call of the script it is, counted from 1")
    place: str | None = _doc("file and line of the script that called it; null when no line of it did")
    device_scope: str | None = _doc(
        "device of the tf.device(...) around the call, such as CPU:0; null when there was none", default=None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """Everything known about one run."""

    schema_version: int = _doc("version of this schema")
    steptime_version: str = _doc("version of steptime that wrote the record")
    run_id: str = _doc("name of the run's folder")
    created: str = _doc("when it was planned, UTC, ISO 8601")
    plan: Plan = _doc("what was asked")
    outcome: Outcome = _doc("how it ended")
    device: str | None = _doc("cpu or gpu:N, what was taken", default=None)
    device_reason: str | None = _doc("why that device", default=None)
    environment: Environment | None = _doc("what it ran on and with", default=None)
    job: Job | None = _doc("what was trained", default=None)
    phases: tuple[Phase, ...] = _doc("time by phase, in order", default=())
    epochs: tuple[Epoch, ...] = _doc("history", default=())
    steps: StepTimes | None = _doc("step times at steady state", default=None)
    memory: Memory | None = _doc("peak memory", default=None)
    devices: tuple[DeviceUse, ...] = _doc("what the devices did during the training", default=())
    sampling_s: float | None = _doc(
        "processor seconds that sampling them took in the whole run", default=None
    )
    proof: Proof | None = _doc("where it ran", default=None)
    execution: Mapping[str, Any] | None = _doc(
        "how the steps were executed: each candidate loop with its times, the choice, and what checkpoints cost",
        default=None,
    )
    group: Mapping[str, Any] | None = _doc(
        "who trained together: strategy, replicas, workers, rank of this one; null when it was alone",
        default=None,
    )
    model_file: str | None = _doc("the trained model, relative to the run folder", default=None)
    attempts: tuple[Attempt, ...] = _doc(
        "earlier starts of the worker, when it was started again", default=()
    )
    unavailable: Mapping[str, str] = _doc("what could not be measured, and why", default_factory=dict)
    call: Call | None = _doc(
        "the fit call that it is about, when a script made it; null for a script as a whole", default=None
    )


SECTIONS: tuple[type, ...] = (
    RunRecord, Outcome, Fault, Attempt, Environment, Job, Phase, Epoch, StepTimes, Memory, DeviceUse, Proof, Call,
)  # fmt: skip


def describe() -> tuple[Section, ...]:
    """Return (name, docstring, fields as (name, type, meaning)) of every part of the record."""
    return describe_sections(SECTIONS)
