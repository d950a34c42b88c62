"""A study: a folder of runs that belong together, described by study.json beside them."""

import datetime
from dataclasses import dataclass
from pathlib import Path

from steptime.plan.arm import Arm
from steptime.plan.codec import from_json, to_json
from steptime.record.files import write_json
from steptime.record.store import make_unused, read_json, writable

STUDY_FILE = "study.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRun:
    """One run of a study.

    Attributes:
        arm: Name of its arm.
        folder: Its run folder: a name inside the study folder, or the path of a run from elsewhere.
    """

    arm: str
    folder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """What was compared.

    Attributes:
        arms: The arms, in the order in which they are shown.
        baseline: Name of the arm that the others are compared with.
        command: The command that repeats the comparison.
        runs: The runs, in the order in which they were made.
        target: What ``--target`` asked for, such as ``val_accuracy=0.98``.
        allowed: Keys in which the runs may differ without saying so.
        stop: Why nothing more was run; None while it goes on.
        no_gpu_reason: Why there is no arm on a GPU though the default arms have one; None when there is.
    """

    arms: tuple[Arm, ...]
    baseline: str
    command: tuple[str, ...]
    runs: tuple[StudyRun, ...] = ()
    target: str | None = None
    allowed: tuple[str, ...] = ()
    stop: str | None = None
    no_gpu_reason: str | None = None


def create_study_folder(runs: Path, kind: str, now: datetime.datetime | None = None) -> Path:
    """Make ``runs/<kind>-<time>`` and return it.

    Raises:
        UsageError: The folder cannot be made.
    """
    moment = now or datetime.datetime.now(datetime.UTC)
    with writable(runs):
        runs.mkdir(parents=True, exist_ok=True)
        return make_unused(runs, f"{kind}-{moment:%Y%m%d-%H%M%S}")


def write_study(folder: Path, study: Study) -> None:
    """Write ``study.json``, by rename."""
    write_json(folder / STUDY_FILE, to_json(study))


def read_study(folder: Path) -> Study:
    """Read the description of a study.

    Raises:
        RecordError: There is none, or it is damaged.
    """
    return from_json(Study, read_json(folder / STUDY_FILE), str(folder / STUDY_FILE))


def run_folders(folder: Path, study: Study, arm: str) -> tuple[Path, ...]:
    """Return the run folders of one arm."""
    return tuple(folder / run.folder for run in study.runs if run.arm == arm)
