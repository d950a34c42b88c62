"""A script that trains: what it is, and which settings can act on a program that decides the rest itself."""

import dataclasses
import difflib
from collections.abc import Mapping
from pathlib import Path

from steptime.errors import UsageError
from steptime.plan.settings import Settings
from steptime.plan.workload import Workload

SCRIPT = "script"
NOTEBOOK_SUFFIX = ".ipynb"

# What holds for the whole process or for how steps are executed. All else, such as epochs, is the script's own.
SCRIPT_SETTINGS = (
    "device", "loop", "exact_kernels", "precision", "tf32", "threads", "inter_threads", "deterministic", "name",
)  # fmt: skip


def parse_script(path: str, arguments: tuple[str, ...] = ()) -> Workload:
    """Describe a script; nothing of it is read or run.

    Raises:
        UsageError: There is no such file.
    """
    file = Path(path)
    if not file.is_file():
        folder = file.parent
        names = [item.name for item in folder.iterdir() if item.is_file()] if folder.is_dir() else []
        near = difflib.get_close_matches(file.name, names, n=1)
        raise UsageError(
            f"The script must be a Python file or a notebook that exists. Received: {path!r}",
            hint=f"Did you mean {str(file.with_name(near[0]))!r}?"
            if near
            else "steptime's own options stand before the script, the script's own behind it.",
        )
    return Workload(name=file.stem, kind=SCRIPT, target=path, arguments=arguments)


def check_script_settings(given: Mapping[str, object], origin: str) -> None:
    """Refuse settings that a script decides itself.

    Args:
        given: Settings by key, as a person gave them.
        origin: Where they come from, such as ``--set``.

    Raises:
        UsageError: One of them would have no effect.
    """
    for raw_key in given:
        key = raw_key.replace("-", "_")
        declared = {item.name for item in dataclasses.fields(Settings)}
        if key in declared and key not in SCRIPT_SETTINGS:
            raise UsageError(
                f"{origin} must be one of {', '.join(SCRIPT_SETTINGS)} for a script. Received: {raw_key!r}",
                hint=f"Change {key} in the script, or in the arguments that follow it.",
            )


def keep_script_settings(settings: Settings) -> Settings:
    """Return the settings with those at their defaults that a script decides itself."""
    return Settings(**{key: getattr(settings, key) for key in SCRIPT_SETTINGS})
