"""What `steptime profile` measured of one job: profile.json. docs/record.md is generated from this file too.

History of the schema:
    1  first version
    2  a stage names those that it reads; the bytes of a batch are told for each of its arrays
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from steptime.plan.codec import to_json
from steptime.record.documented import described
from steptime.record.files import write_json
from steptime.record.versioned import read_versioned

PROFILE_FILE = "profile.json"
PROFILE_VERSION = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """One way of executing the job's steps, timed in turns with the others."""

    step_s: tuple[float, ...] = described(
        "mean seconds a step, one value for each round; empty when not timed"
    )
    steps: int = described("steps timed in all")
    batch_size: int | None = described("samples in each of these steps; null when not known")
    reason: str | None = described("why it was not timed; null when it was", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """The short timings that classify a run."""

    as_is: Timing = described("the job as it trains: its data, its callbacks, its loop")
    repeated: Timing = described(
        "the same loop, fed with one batch again and again from memory; no callbacks"
    )
    input: Timing = described("the input pipeline alone, without any training")
    resident: Timing = described("the step alone, in a compiled loop on one batch that lies on the device")
    doubled: Timing = described("the same with a batch of twice the size")


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """How the steps were executed in the timings."""

    name: str = described("keras, graph, graph+kernels or xla")
    reason: str = described("why that one")
    is_resident: bool = described("whether the training data lay on the device")
    is_stock: bool = described("whether it was Keras' own fit that executed them, one step at a time")
    run_eagerly: bool = described("whether steps run in Python, one operation at a time")
    jit_compile: bool = described("whether Keras compiles the step by XLA")
    steps_per_execution: int = described("Keras' steps in one call of the compiled function")
    not_xla: str | None = described(
        "why the step is not or cannot be one XLA program, naming the layer; null when it is", default=None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One transformation of a tf.data pipeline."""

    name: str = described("Map, ParallelMap, Batch, Cache, Prefetch, Shuffle, Generator, ...")
    inputs: tuple[int, ...] | None = described(
        "places in the list of the stages that it reads, several where pipelines are joined; null for the one before",
        default=None,
    )
    parallel_calls: int | None = described(
        "calls at once; -1 is AUTOTUNE; null where it has none", default=None
    )
    buffer_size: int | None = described(
        "elements it holds; -1 is AUTOTUNE; null where it has none", default=None
    )
    batch_size: int | None = described("elements it joins; null where it joins none", default=None)
    has_python: bool = described("whether it calls Python for each element", default=False)
    is_random: bool = described("whether it draws random numbers", default=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """Where the batches come from."""

    kind: str = described("arrays, dataset, generator or pydataset")
    stages: tuple[Stage, ...] = described("of a dataset, from its source to what fit reads", default=())
    batch_shapes: tuple[str, ...] = described(
        "distinct shapes of the inputs seen while the pipeline ran alone, the most frequent first; at most 32",
        default=(),
    )
    distinct_shapes: int = described("how many distinct shapes were seen", default=0)
    batches_seen: int = described("batches that were looked at for their shapes", default=0)
    dtypes: tuple[str, ...] = described("dtypes of a batch's arrays", default=())
    dtype_bytes: tuple[int, ...] = described("bytes of each of these arrays in one batch", default=())
    batch_bytes: int | None = described("bytes of one batch", default=None)
    elements: int | None = described("batches in a pass; null when a stream does not tell", default=None)
    workers: int | None = described("workers of a PyDataset; null for anything else", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackCost:
    """What one callback cost on the host."""

    name: str = described("its class")
    by: str = described("person or steptime")
    step_s: float = described("seconds a step in its batch hooks")
    epoch_s: float | None = described(
        "seconds an epoch in its epoch hooks; null when no epoch ended in the profile", default=None
    )
    saves: bool = described("whether it writes the model", default=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonCost:
    """Host time of one part of a step, in Python."""

    part: str = described("such as 'Keras: reading the logs', 'callbacks', 'the job's own code'")
    step_s: float = described("seconds a step, as the share of a profiled step times the unprofiled step")
    calls: float = described("calls a step", default=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracing:
    """Python traces of the training step after the first one."""

    count: int = described("how often the step was traced again while it should have been steady")
    steps: int = described("steps in which that was counted")
    time_s: float = described("seconds a step that it cost, spread over these steps")
    shapes: tuple[str, ...] = described(
        "shapes of the batches that caused it, oldest first; at most 32", default=()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """What a validation costs."""

    step_s: float = described("seconds a validation step")
    steps: int | None = described("steps of a whole validation; null when a stream does not tell")
    epoch_s: float | None = described("seconds of a whole validation, extrapolated from the steps measured")
    every_epochs: int = described("epochs between two validations")
    batch_size: int | None = described("samples in a validation step")


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One layer of the person's model."""

    name: str = described("its name in Keras")
    kind: str = described("its class")
    parameters: int = described("number of its weights")
    output_shape: str = described("shape of its output, batch first; ? when not known")
    dtype: str = described("what it computes in")
    width: int | None = described("units or filters; null where it has none", default=None)
    supports_xla: bool = described("whether Keras says that XLA can compile it", default=True)
    forward_flops: int | None = described(
        "floating-point operations of its forward pass, one batch", default=None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Operations counted in the traced graph; nothing is executed for it. A multiply-add counts as two."""

    forward_flops: int | None = described("forward pass, one batch")
    step_flops: int | None = described("whole training step, one batch")
    heavy_flops: int | None = described("the part of it in matrix products and convolutions")
    step_bytes: int | None = described(
        "bytes that the step's operations read and write, each counted alone, without any cache or fusion"
    )
    fixed_bytes: int | None = described(
        "the part of it that does not grow with the batch: weights and optimizer"
    )
    least_bytes: int | None = described(
        "bytes that must move at least: inputs, weights and optimizer state once each way"
    )
    operations: int | None = described("operations executed a step, by the graph")


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceNote:
    """The trace of a few steady steps, and how much it disturbed them."""

    steps: int = described("steps traced")
    profiled_step_s: float = described("seconds a step while the profiler ran")
    unprofiled_step_s: float = described("seconds a step of the same execution, right before and after")
    folder: str = described("TensorBoard folder of the whole trace, relative to the run folder")
    bytes: int = described("size of the trace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Threads:
    """What the process may use of the processor."""

    intra: int | None = described("threads inside one op as asked; null lets TensorFlow choose")
    inter: int | None = described("ops at once as asked; null lets TensorFlow choose")
    usable_cores: int = described("cores this process may run on")
    quota_cores: float | None = described("processor time the container may use, in cores; null for no limit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Everything that was measured of one job, but the operations, which are in ops.json."""

    schema_version: int = described("version of this schema")
    device: str = described("cpu or gpu:N")
    batch_size: int | None = described("samples in a step; null when not known")
    steps_per_epoch: int | None = described("steps in an epoch; null when a stream does not tell")
    epochs: int = described("epochs the settings ask for")
    precision: str = described("Keras' dtype policy")
    floatx: str = described("Keras' default type")
    optimizer: str = described("class of the optimizer")
    variables: int = described("trainable variables, each of which the optimizer updates")
    loop: Loop = described("how the steps were executed")
    timings: Timings = described("the short timings")
    pipeline: Pipeline = described("where the batches come from")
    callbacks: tuple[CallbackCost, ...] = described("what each callback cost", default=())
    python: tuple[PythonCost, ...] = described("where the host's Python time of a step went", default=())
    tracing: Tracing | None = described("traces of the step while it should be steady", default=None)
    validation: Validation | None = described(
        "what a validation costs; null when there is none", default=None
    )
    layers: tuple[Layer, ...] = described("the layers of the model, in order", default=())
    counts: Counts | None = described("operations counted in the traced graph", default=None)
    trace: TraceNote | None = described("the trace of a few steps", default=None)
    threads: Threads | None = described("what the process may use of the processor", default=None)
    unavailable: Mapping[str, str] = described("what could not be measured, and why", default_factory=dict)


SECTIONS: tuple[type, ...] = (
    Profile, Loop, Timings, Timing, Pipeline, Stage, CallbackCost, PythonCost, Tracing, Validation, Layer,
    Counts, TraceNote, Threads,
)  # fmt: skip


def write_profile(folder: Path, profile: Profile) -> None:
    """Write ``profile.json``, by rename."""
    write_json(folder / PROFILE_FILE, to_json(profile))


def read_profile(folder: Path) -> Profile | None:
    """Return what was measured of a run; None when the run was not profiled.

    Raises:
        RecordError: The file is damaged, or another version wrote it.
    """
    return read_versioned(Profile, folder / PROFILE_FILE, PROFILE_VERSION)
