"""A notebook as a script: its code cells in order, converted by ``nbconvert``."""

import contextlib
import io
import subprocess
import types
from pathlib import Path
from typing import Any

from steptime.errors import UsageError
from steptime.worker.loading import first_line


def convert_notebook(path: Path, folder: Path) -> Path:
    """Write a notebook's code as a Python file into a folder, where tracebacks find its lines, and return it.

    Args:
        path: The notebook.
        folder: The script's run folder.

    Raises:
        UsageError: ``nbconvert`` is not installed, or it cannot convert the file.
    """
    try:
        from nbconvert.exporters import PythonExporter
    except ImportError:
        raise UsageError(
            "A notebook is run with the help of nbconvert. It is not installed here",
            hint="pip install nbconvert, or save the notebook as a Python file (File, Save and Export).",
        ) from None
    try:
        source: str = PythonExporter().from_filename(str(path))[0]
    except Exception as error:  # nbconvert raises errors of many kinds
        raise UsageError(
            f"{path.name} must be a notebook that nbconvert can convert. Received: {first_line(error)}",
            hint="`jupyter nbconvert --to script` shows more; or save the notebook as a Python file.",
        ) from error
    converted = folder / f"{path.stem}.py"
    converted.write_text(source, encoding="utf-8")
    return converted


class Shell:
    """What ``get_ipython()`` gives in a notebook that runs as a script: shell lines run, most magics have no effect.

    Args:
        module: The module in which the notebook runs.
    """

    def __init__(self, module: types.ModuleType) -> None:
        self._module = module

    def run_line_magic(self, name: str, line: str, **_: Any) -> None:
        """Run what ``%time`` is asked to time; any other magic is about how a notebook shows things."""
        if name in ("time", "timeit"):
            exec(line, self._module.__dict__)  # noqa: S102 - it is the notebook's own code

    def run_cell_magic(self, name: str, line: str, cell: str) -> None:  # noqa: ARG002 - IPython's signature
        """Run a cell below ``%%time``, ``%%timeit`` or ``%%capture``, or in a shell below ``%%bash``."""
        if name in ("bash", "sh"):
            self.system(cell)
        elif name == "capture":
            with contextlib.redirect_stdout(io.StringIO()):
                exec(cell, self._module.__dict__)  # noqa: S102 - it is the notebook's own code
        elif name in ("time", "timeit"):
            exec(cell, self._module.__dict__)  # noqa: S102 - it is the notebook's own code

    def system(self, command: str) -> None:
        """Run a line that began with ``!``."""
        subprocess.run(command, shell=True, check=False)  # noqa: S602 - it is the notebook's own line

    def getoutput(self, command: str) -> list[str]:
        """Run a line such as ``files = !ls``, and return its output's lines."""
        done = subprocess.run(command, shell=True, check=False, stdout=subprocess.PIPE, text=True)  # noqa: S602
        return done.stdout.splitlines()

    def __getattr__(self, name: str) -> Any:
        message = f"a notebook that runs as a script has no get_ipython().{name}"
        raise AttributeError(message)
