"""A run as it lies on the disk: its record and the series beside it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import steptime
from steptime.record.events import last_phase
from steptime.record.files import read_arrays
from steptime.record.schema import SCHEMA_VERSION, Outcome, RunRecord
from steptime.record.store import DEVICE_FILE, PLAN_FILE, RECORD_FILE, STEPS_FILE, read_plan, read_record

if TYPE_CHECKING:
    import numpy as np

Columns = Mapping[str, "np.ndarray[Any, Any]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """One run.

    Attributes:
        record: Its record.
        steps: The columns of steps.npz, one entry a block; empty when there are none.
        devices: The columns of device.npz; empty when there are none.
    """

    record: RunRecord
    steps: Columns
    devices: Columns


def read_run(folder: Path) -> StoredRun:
    """Read a run folder. A run that left no record counts as failed.

    Raises:
        RecordError: There is neither a record nor a plan, or a file is damaged.
    """
    is_ended = (folder / RECORD_FILE).exists() or not (folder / PLAN_FILE).exists()
    return StoredRun(
        record=read_record(folder) if is_ended else _without_record(folder),
        steps=read_arrays(folder / STEPS_FILE),
        devices=read_arrays(folder / DEVICE_FILE),
    )


def _without_record(folder: Path) -> RunRecord:
    plan, created = read_plan(folder)
    phase = last_phase(folder)
    reason = f"it left no record; the last that is known of it is phase {phase!r}"
    return RunRecord(
        schema_version=SCHEMA_VERSION,
        steptime_version=steptime.__version__,
        run_id=folder.name,
        created=created,
        plan=plan,
        outcome=Outcome(status="failed", phase=phase, reason=reason, exit_code=3),
    )
