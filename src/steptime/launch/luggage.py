"""What a workload needs on another machine: its own Python files, gathered into one folder."""

import shutil
from pathlib import Path

from steptime.errors import UsageError
from steptime.plan.workload import Workload

# Ray refuses a working directory above 512 MiB; Python files above this are no sources.
_MOST_BYTES = 100 * 2**20
_MOST_FILES = 2000


def pack(workload: Workload, folder: Path, current: Path) -> None:
    """Copy the Python files of a workload into an empty folder, as they lie beside each other.

    A file takes those of its own folder and of the folders below along, since it may import them; a module takes
    those of the current folder. Data stay where they are.

    Args:
        workload: What is trained; a built-in one needs nothing.
        folder: Where to.
        current: The current folder.

    Raises:
        UsageError: There is too much to carry.
    """
    if workload.kind == "built-in":
        return
    source = Path(workload.target).parent if workload.kind == "file" else current
    total_bytes = 0
    for number, path in enumerate(_python_files(source), start=1):
        total_bytes += path.stat().st_size
        if total_bytes > _MOST_BYTES or number > _MOST_FILES:
            raise UsageError(
                f"The workload's folder must hold at most {_MOST_FILES} Python files and"
                f" {_MOST_BYTES >> 20} MiB of them, to be sent to the workers. Received: more, in {str(source)!r}",
                hint="Put the workload and what it imports into a folder of their own.",
            )
        target = folder / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


def unpacked(workload: Workload, folder: Path) -> Path:
    """Return where the file of a workload lies in the folder that ``pack`` filled."""
    return folder / Path(workload.target).name


def _python_files(source: Path) -> list[Path]:
    """Return what a person wrote: no hidden folders, no environments with their installed packages."""
    found = []
    pending = [source]
    while pending:
        for path in sorted(pending.pop().iterdir()):
            if path.name.startswith(".") or path.is_symlink():
                continue
            if path.is_dir():
                if path.name != "__pycache__" and not (path / "pyvenv.cfg").exists():
                    pending.append(path)
            elif path.suffix == ".py":
                found.append(path)
    return found
