"""For tests, ours and yours: plans, records and a launcher that needs no process."""

import dataclasses
from pathlib import Path
from typing import Any

from steptime.launch.launcher import OnEvent
from steptime.plan.plan import Placement, Plan
from steptime.plan.settings import Settings, change
from steptime.plan.workload import parse_workload
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
from steptime.record.store import write_record


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


class FakeLauncher:
    """Answers each plan with the next of the given records, and writes it as a worker would."""

    def __init__(self, *records: RunRecord) -> None:
        self._records = list(records)
        self.plans: list[Plan] = []

    def launch(self, plan: Plan, folder: Path, on_event: OnEvent) -> RunRecord:
        """Return the next record, under the plan and the folder that were given."""
        self.plans.append(plan)
        on_event({"kind": "phase", "name": "train", "words": "training"})
        record = dataclasses.replace(self._records.pop(0), plan=plan, run_id=folder.name)
        write_record(folder, record)
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
    )
