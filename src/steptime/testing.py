"""For tests, ours and yours: plans, records and a launcher that needs no process."""

import dataclasses
from pathlib import Path
from typing import Any

from steptime.launch.launcher import OnEvent
from steptime.plan.plan import Placement, Plan
from steptime.plan.settings import Settings, change
from steptime.plan.workload import parse_workload
from steptime.record.files import write_arrays
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
