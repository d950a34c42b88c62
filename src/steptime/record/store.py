"""Run folders: made before a worker starts, found by name, listed, read.

runs/<study>/<run id>/plan.json  events.jsonl  worker.log  steps.npz  tb/  checkpoints/  model.keras  run.json
runs/<study>/<run id>/workers/<rank>/   the same of every further worker of a group
"""

import datetime
import difflib
import glob
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steptime.errors import RecordError, UsageError
from steptime.plan.codec import from_json, to_json
from steptime.plan.plan import Plan
from steptime.record.events import last_phase
from steptime.record.files import write_json
from steptime.record.schema import SCHEMA_VERSION, RunRecord

RECORD_FILE = "run.json"
PLAN_FILE = "plan.json"
LOG_FILE = "worker.log"
STEPS_FILE = "steps.npz"
DEVICE_FILE = "device.npz"
MODEL_FILE = "model.keras"
MEMBERS_FOLDER = "workers"
CHECKPOINTS_FOLDER = "checkpoints"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """One line of ``steptime runs``: a record, or a folder whose run left none."""

    run_id: str
    folder: Path
    record: RunRecord | None
    state: str


def create_run_folder(runs: Path, study: str, plan: Plan, now: datetime.datetime | None = None) -> Path:
    """Make ``runs/<study>/<run id>`` with ``plan.json`` in it and return it.

    Raises:
        UsageError: The folder cannot be made or written, or the disk is full.
    """
    moment = now or datetime.datetime.now(datetime.UTC)
    label = plan.settings.name or plan.workload.name.rpartition(".")[2]
    # A name in any script is a fine folder; 64 characters stay below every file system's limit of 255 bytes
    # even where each takes three.
    name = re.sub(r"[^\w.-]+", "-", label)[:64]
    stem = f"{moment:%Y%m%d-%H%M%S}-{name}"
    with writable(runs):
        (runs / study).mkdir(parents=True, exist_ok=True)
        folder = make_unused(runs / study, stem)
        write_json(folder / PLAN_FILE, {"created": f"{moment:%Y-%m-%dT%H:%M:%SZ}", "plan": to_json(plan)})
    return folder


def member_folder(folder: Path, rank: int) -> Path:
    """Return where worker ``rank`` of a group keeps what a run leaves; the chief's is the run folder itself."""
    return folder if rank == 0 else folder / MEMBERS_FOLDER / str(rank)


def chief_folder(folder: Path) -> Path:
    """Return the chief's folder, given that of any worker of its group."""
    return folder.parent.parent if folder.parent.name == MEMBERS_FOLDER else folder


def create_member_folder(folder: Path, plan: Plan, rank: int) -> Path:
    """Make the folder of worker ``rank`` with ``plan.json`` in it and return it; the run folder must exist."""
    place = member_folder(folder, rank)
    created = read_plan(folder)[1]
    place.mkdir(parents=True, exist_ok=True)
    write_json(place / PLAN_FILE, {"created": created, "plan": to_json(plan)})
    return place


def rewrite_plan(folder: Path, plan: Plan) -> None:
    """Replace the plan of a run folder; when it was made stays."""
    created = read_plan(folder)[1]
    write_json(folder / PLAN_FILE, {"created": created, "plan": to_json(plan)})


def create_call_folder(script: Path, number: int, plan: Plan, created: str) -> Path:
    """Make the run folder of a script's ``fit`` call, beside that of the script, and return it.

    Args:
        script: Run folder of the script.
        number: Number of the call, from 1.
        plan: What the call asks for.
        created: When the script was planned, ISO 8601.
    """
    folder = make_unused(script.parent, f"{script.name}-fit-{number}")
    write_json(folder / PLAN_FILE, {"created": created, "plan": to_json(plan)})
    return folder


def call_folders(script: Path) -> tuple[Path, ...]:
    """Return the run folders of a script's ``fit`` calls, in the order of the calls."""
    begin = f"{script.name}-fit-"
    numbered = [
        (int(path.name.removeprefix(begin)), path)
        for path in script.parent.glob(f"{glob.escape(begin)}*")
        if path.name.removeprefix(begin).isdigit()
    ]
    return tuple(path for _, path in sorted(numbered))


@contextmanager
def writable(runs: Path) -> Iterator[None]:
    """Turn a failure to write inside into advice.

    Raises:
        UsageError: A folder cannot be made or written, or the disk is full.
    """
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"The run folder must be writable. Received: {str(runs)!r} ({error.strerror or error})",
            hint="Choose another folder with --runs DIR or STEPTIME_RUNS, or free some space.",
        ) from None


def read_plan(folder: Path) -> tuple[Plan, str]:
    """Return the plan of a run folder and when it was made (ISO 8601, UTC).

    Raises:
        RecordError: There is no readable plan.
    """
    content = read_json(folder / PLAN_FILE)
    return from_json(Plan, content.get("plan"), "plan"), str(content.get("created"))


def write_record(folder: Path, record: RunRecord) -> None:
    """Write ``run.json``, by rename."""
    write_json(folder / RECORD_FILE, to_json(record))


def read_record(folder: Path) -> RunRecord:
    """Read the record of a run folder.

    Raises:
        RecordError: There is none, it is damaged, or another version wrote it.
    """
    content = read_json(folder / RECORD_FILE)
    version = content.get("schema_version")
    if not isinstance(version, int) or version < 1:
        raise RecordError(
            f"{folder / RECORD_FILE} must hold a schema_version. Received: {version!r}",
            hint="The file is not a record of steptime, or was changed since.",
        )
    if version > SCHEMA_VERSION:
        raise RecordError(
            f"{folder / RECORD_FILE} must have schema version {SCHEMA_VERSION} or older. Received: {version}",
            hint="A newer steptime wrote it: update this one to read it.",
        )
    return from_json(RunRecord, content, str(folder / RECORD_FILE))


def list_runs(runs: Path) -> tuple[RunSummary, ...]:
    """Return every run below ``runs``, oldest first; unreadable ones say why in their state."""
    folders = sorted({path.parent for path in runs.glob(f"*/*/{PLAN_FILE}")}, key=lambda path: path.name)
    return tuple(_summary(folder) for folder in folders)


def find_run(runs: Path, text: str) -> Path:
    """Return the folder of a run named by path, by run id, by the end of its id, or by ``last``.

    Raises:
        RecordError: No such run, or several.
    """
    direct = Path(text)
    if (direct / PLAN_FILE).is_file() or (direct / RECORD_FILE).is_file():
        return direct
    folders = [summary.folder for summary in list_runs(runs)]
    if text == "last" and folders:
        return folders[-1]
    matches = [folder for folder in folders if folder.name == text]
    matches = matches or [folder for folder in folders if folder.name.endswith(text)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise RecordError(
            f"The run must be named unambiguously. {text!r} fits: {', '.join(f.name for f in matches[-5:])}",
            hint="Give the whole id, or the path of its folder.",
        )
    near = difflib.get_close_matches(text, [folder.name for folder in folders], n=1)
    raise RecordError(
        f"The run must exist below {str(runs)!r}. Received: {text!r}",
        hint=f"Did you mean {near[0]!r}?" if near else "`steptime runs` lists what there is.",
    )


def _summary(folder: Path) -> RunSummary:
    record, state = None, ""
    if (folder / RECORD_FILE).exists():
        try:
            record = read_record(folder)
            state = record.outcome.status
        except RecordError as error:
            state = f"unreadable: {error.message}"
    else:
        state = f"no record (last phase: {last_phase(folder)})"
    return RunSummary(run_id=folder.name, folder=folder, record=record, state=state)


def make_unused(parent: Path, stem: str) -> Path:
    """Make the first folder of ``stem``, ``stem-2``, ``stem-3`` ... that does not exist."""
    number = 1
    while True:
        folder = parent / (stem if number == 1 else f"{stem}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            number += 1
        else:
            return folder


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object.

    Raises:
        RecordError: There is none, or it is damaged.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RecordError(
            f"{path} must exist: the run did not end, or is still going on.",
            hint=f"{path.with_name(LOG_FILE)} shows what it did last.",
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise RecordError(f"{path} must be readable JSON. {error}", hint="The file is damaged.") from None
    if not isinstance(content, dict):
        raise RecordError(f"{path} must hold a JSON object.", hint="The file is damaged.")
    return content
