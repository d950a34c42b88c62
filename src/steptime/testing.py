"""For tests, ours and yours: plans, records and a launcher that needs no process."""

import dataclasses
from pathlib import Path
from typing import Any

from steptime.launch.launcher import OnEvent
from steptime.plan.plan import Placement, Plan
from steptime.plan.settings import Settings, change
from steptime.plan.workload import parse_workload
from steptime.record.ceilings import CEILINGS_VERSION, Ceilings
from steptime.record.files import write_arrays
from steptime.record.operations import (
    OPERATIONS_VERSION,
    Bar,
    Busy,
    KindTime,
    LayerTime,
    NodeTime,
    Operations,
)
from steptime.record.profile import (
    PROFILE_VERSION,
    Counts,
    Layer,
    Loop,
    Pipeline,
    Profile,
    Threads,
    Timing,
    Timings,
    TraceNote,
    Validation,
)
from steptime.record.schema import (
    SCHEMA_VERSION,
    Environment,
    Epoch,
    Job,
    Memory,
    Outcome,
    Phase,
    Proof,
    RunRecord,
    StepTimes,
)
from steptime.record.store import DEVICE_FILE, STEPS_FILE, write_record
from steptime.record.stored import StoredRun


def make_plan(workload: str = "mnist-cnn", **settings: Any) -> Plan:
    """Return a plan for a CPU run with the given settings."""
    return Plan(
        workload=parse_workload(workload),
        settings=change(Settings(device="cpu"), settings, "make_plan"),
        placement=Placement(device="cpu", reason="as asked", visible_devices="-1"),
        command=("steptime", "train", workload),
    )


def make_record(plan: Plan | None = None, **changes: Any) -> RunRecord:
    """Return the record of a plausible run of two epochs on a CPU, with ``changes`` to its fields."""
    asked = plan or make_plan(epochs=2)
    record = RunRecord(
        schema_version=SCHEMA_VERSION,
        steptime_version="0.1.0",
        run_id="20260102-030405-mnist-cnn",
        created="2026-01-02T03:04:05Z",
        plan=asked,
        outcome=Outcome(status="ok", phase="save"),
        device="cpu",
        device_reason="as asked",
        environment=_environment(),
        job=_job(),
        phases=(
            Phase(name="import", duration_ns=5_000_000_000),
            Phase(name="warmup", duration_ns=900_000_000),
            Phase(name="train", duration_ns=40_000_000_000),
            Phase(name="validate", duration_ns=3_000_000_000),
        ),
        epochs=tuple(_epoch(number) for number in range(2)),
        steps=StepTimes(
            samples_per_s=3000.0,
            step_ns=10_666_667.0,
            first_block_ns=900_000_000,
            steady_blocks=80,
            blocks=81,
        ),
        memory=Memory(peak_process_bytes=900_000_000, peak_device_bytes=None),
        proof=Proof(
            planned_device="CPU:0",
            compute_ops={"CPU:0": 186},
            heavy_ops={"CPU:0": ("Conv2DBackpropFilter x 3", "MatMul x 4")},
            variables={"CPU:0": 32},
        ),
        model_file="model.keras",
        unavailable={"memory.peak_device_bytes": "TensorFlow keeps no account of a CPU's memory"},
    )
    return dataclasses.replace(record, **changes)


def make_run(
    record: RunRecord | None = None,
    *,
    step_s: float = 0.01,
    noise: float = 0.01,
    blocks: int = 60,
    seed: int = 0,
) -> StoredRun:
    """Return a run with the times of its blocks: a first one that compiles, then steady ones of 25 steps.

    Args:
        record: Its record.
        step_s: Typical time of a step.
        noise: Relative spread of the blocks.
        blocks: Number of blocks.
        seed: Seed of the noise.
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    steps = np.full(blocks, 25)
    duration_ns = (step_s * 1e9 * steps * np.exp(noise * rng.standard_normal(blocks))).astype(np.int64)
    duration_ns[0] += 900_000_000
    columns = {
        "epoch": np.zeros(blocks, np.int64),
        "first_step": np.cumsum(steps) - steps,
        "steps": steps,
        "samples": steps * 32,
        "duration_ns": duration_ns,
        "end_ns": 6_000_000_000 + np.cumsum(duration_ns),
        "compiled": np.arange(blocks) == 0,
        "loss": 2.3 * np.exp(-np.arange(blocks) / 20),
        "loop": np.full(blocks, "graph"),
    }
    return StoredRun(record=record or make_record(), steps=columns, devices={})


def make_profile(**changes: Any) -> Profile:
    """Return the profile of a plausible job on a CPU whose step is mostly computing, with ``changes``."""
    profile = Profile(
        schema_version=PROFILE_VERSION,
        device="cpu",
        batch_size=32,
        steps_per_epoch=1875,
        epochs=10,
        precision="float32",
        floatx="float32",
        optimizer="Adam",
        variables=8,
        loop=Loop(
            name="graph", reason="graph, measured", is_resident=True, is_stock=False, run_eagerly=False,
            jit_compile=False, steps_per_execution=1,
        ),
        timings=Timings(
            as_is=make_timing(0.0102),
            repeated=make_timing(0.0100),
            input=make_timing(0.0002),
            resident=make_timing(0.0098),
            doubled=make_timing(0.0191, batch_size=64),
        ),
        pipeline=Pipeline(
            kind="arrays", batch_shapes=("(32, 28, 28)",), distinct_shapes=1, batches_seen=8,
            dtypes=("uint8", "uint8"), batch_bytes=25_120, elements=1875,
        ),
        validation=Validation(step_s=0.004, steps=313, epoch_s=1.25, every_epochs=1, batch_size=32),
        layers=(
            Layer(name="conv2d", kind="Conv2D", parameters=320, output_shape="(32, 26, 26, 32)", dtype="float32",
                  width=32, forward_flops=12_460_032),
            Layer(name="dense", kind="Dense", parameters=54_090, output_shape="(32, 10)", dtype="float32",
                  width=10, forward_flops=3_461_120),
        ),
        counts=Counts(
            forward_flops=180_000_000, step_flops=540_000_000, heavy_flops=500_000_000, step_bytes=60_000_000,
            fixed_bytes=3_000_000, least_bytes=2_300_000, operations=420,
        ),
        trace=TraceNote(
            steps=24, profiled_step_s=0.0105, unprofiled_step_s=0.0101, folder="tb/profile", bytes=1_000_000
        ),
        threads=Threads(intra=None, inter=None, usable_cores=2, quota_cores=None),
    )  # fmt: skip
    return dataclasses.replace(profile, **changes)


def make_timing(step_s: float, rounds: int = 5, batch_size: int | None = 32) -> Timing:
    """Return a timing whose rounds spread by one per cent around ``step_s``."""
    middle = (rounds - 1) / 2
    values = tuple(step_s * (1 + 0.01 * (number - middle) / max(middle, 1)) for number in range(rounds))
    return Timing(step_s=values, steps=rounds * 50, batch_size=batch_size)


def make_operations(**changes: Any) -> Operations:
    """Return the digest of a trace that fits `make_profile`, with ``changes``."""
    operations = Operations(
        schema_version=OPERATIONS_VERSION,
        steps=24,
        step_s=0.0105,
        kinds=(
            KindTime(kind="Conv2DBackpropFilter", group="convolution", device="host", count=1, time_s=0.0041),
            KindTime(kind="Conv2D", group="convolution", device="host", count=1, time_s=0.0032),
            KindTime(kind="MatMul", group="matmul", device="host", count=3, time_s=0.0011),
            KindTime(kind="Mul", group="elementwise", device="host", count=64, time_s=0.0006),
        ),
        layers=(
            LayerTime(layer="conv2d", kind="Conv2D", device="host", forward_s=0.0034, backward_s=0.0042, count=7),
            LayerTime(layer="dense", kind="Dense", device="host", forward_s=0.0004, backward_s=0.0008, count=6),
            LayerTime(layer="(optimizer)", kind="", device="host", forward_s=0.0007, backward_s=0.0, count=176),
        ),
        nodes=(
            NodeTime(
                name="model/conv2d/convolution", kind="Conv2D", group="convolution", layer="conv2d", role="forward",
                device="host", count=1, time_s=0.0032, flops=12_460_032, bytes=2_900_000,
            ),
        ),
        busy=(
            Busy(device="host", lanes=2, busy_s=0.0097, idle_s=0.0008, longest_gap_s=0.0002, gaps=12,
                 launches=420, small_launches=310),
        ),
        timeline=(
            Bar(lane="thread 1", name="Conv2D", group="convolution", layer="conv2d", begin_s=0.0, duration_s=0.0032),
        ),
    )  # fmt: skip
    return dataclasses.replace(operations, **changes)


def make_ceilings(**changes: Any) -> Ceilings:
    """Return what a processor of two cores may reach, with ``changes``."""
    ceilings = Ceilings(
        schema_version=CEILINGS_VERSION,
        device="cpu",
        name="A processor",
        key="0123456789abcdef",
        measured="2026-01-02T03:04:05Z",
        flops_per_s={"float32": 80e9, "bfloat16": 60e9},
        memory_bytes_per_s=12e9,
        host_to_device_bytes_per_s=None,
        launch_s=3e-6,
        unavailable={"host_to_device_bytes_per_s": "the device is the host itself"},
    )
    return dataclasses.replace(ceilings, **changes)


class FakeLauncher:
    """Answers each plan with the next of the given records or runs, and writes it as a worker would."""

    def __init__(self, *answers: RunRecord | StoredRun) -> None:
        self._answers = list(answers)
        self.plans: list[Plan] = []

    def launch(self, plan: Plan, folder: Path, on_event: OnEvent) -> RunRecord:
        """Return the next record, under the plan and the folder that were given."""
        self.plans.append(plan)
        on_event({"kind": "phase", "name": "train", "words": "training"})
        answer = self._answers.pop(0)
        given = answer.record if isinstance(answer, StoredRun) else answer
        record = dataclasses.replace(given, plan=plan, run_id=folder.name)
        write_record(folder, record)
        if isinstance(answer, StoredRun) and answer.steps:
            write_arrays(folder / STEPS_FILE, answer.steps)
        if isinstance(answer, StoredRun) and answer.devices:
            write_arrays(folder / DEVICE_FILE, answer.devices)
        return record


def _environment() -> Environment:
    return Environment(
        python="3.12.1",
        packages={"tensorflow-cpu": "2.21.0", "keras": "3.15.1"},
        host={"cpu_model": "A processor", "physical_cores": 2, "os_release": "A system"},
        no_gpu_reason="no NVIDIA driver",
    )


def _job() -> Job:
    return Job(
        model="mnist_cnn",
        parameters=93_322,
        train_samples=60_000,
        validation_samples=10_000,
        batch_size=32,
        steps_per_epoch=1875,
        compiled_by="settings",
        optimizer="Adam",
        loss="SparseCategoricalCrossentropy",
    )


def _epoch(number: int) -> Epoch:
    return Epoch(
        epoch=number,
        logs={"loss": 0.14 / (number + 1), "accuracy": 0.95 + 0.02 * number},
        steps=1875,
        train_ns=20_000_000_000,
        validate_ns=1_500_000_000,
        end_ns=(6 + 22 * (number + 1)) * 1_000_000_000,
    )
