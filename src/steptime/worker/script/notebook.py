"""A notebook as a script: its code cells in order, converted by ``nbconvert``, and what its magics do here."""

import contextlib
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from steptime.errors import UsageError
from steptime.worker.loading import first_line

# Options of %time and %timeit: how often to repeat, and how to show the result. Here the code runs once.
_TIMING = re.compile(r"\s*(?:(?:-[nrp]\s*\d+|-[tcqov]+|--no-raise-error)(?:\s+|$))*")
# They are about how a notebook or its session shows things.
_SHOWING = frozenset(
    "matplotlib config load_ext reload_ext autoreload tensorboard html HTML javascript js svg SVG latex markdown"
    " precision pprint xmode colors pylab pdb who whos automagic logstart".split()
)
# In a line for the shell: the value of {expression} or of $name.
_VALUES = re.compile(r"\{([^{}]+)\}|\$([A-Za-z_]\w*)")


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
            hint="pip install nbconvert ipython, or save the notebook as a Python file (File, Save and Export).",
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
    """What ``get_ipython()`` gives in a notebook that runs as a script.

    Lines for the shell run, and so do magics that do something; those about showing have no effect.

    Args:
        module: The module in which the notebook runs.
        say: Tells the person of a magic that has no effect here.
    """

    def __init__(self, module: types.ModuleType, say: Callable[[str], None]) -> None:
        self._names = module.__dict__
        self._say = say

    def run_line_magic(self, name: str, line: str, **_: Any) -> Any:
        """Do what a line such as ``%cd data`` asks for."""
        magics: dict[str, Callable[[str], Any]] = {
            "time": self._time,
            "timeit": self._time,
            "cd": lambda where: os.chdir(Path(where.strip().strip("\"'") or "~").expanduser()),
            "pwd": lambda _: str(Path.cwd()),
            "env": self._env,
            "set_env": self._env,
            "run": self._run,
            "pip": lambda words: self.system(f"{shlex.quote(sys.executable)} -m pip {words}"),
        }
        if name not in magics:
            return self._has_no_effect(f"%{name}", name)
        return magics[name](line if name.startswith("time") else self._with_values(line))

    def run_cell_magic(self, name: str, line: str, cell: str) -> None:
        """Run a cell below ``%%time``, ``%%timeit``, ``%%capture`` or ``%%bash``; write one below ``%%writefile``."""
        if name in ("bash", "sh"):
            subprocess.run([name, "-c", cell], check=False)
        elif name == "capture":
            with contextlib.redirect_stdout(io.StringIO()):
                exec(cell, self._names)  # noqa: S102 - it is the notebook's own code
        elif name in ("time", "timeit"):
            self._time(line)  # %%timeit has what is to be set up there
            exec(cell, self._names)  # noqa: S102 - it is the notebook's own code
        elif name in ("writefile", "file"):
            *options, target = shlex.split(self._with_values(line))
            with Path(target).expanduser().open("a" if "-a" in options else "w", encoding="utf-8") as file:
                file.write(cell)
        else:
            self._has_no_effect(f"%%{name}", name)

    def system(self, command: str) -> None:
        """Run a line that began with ``!``."""
        line = self._with_values(command)
        subprocess.run(line, shell=True, check=False)  # noqa: S602 - it is the notebook's own line

    def getoutput(self, command: str) -> list[str]:
        """Run a line such as ``files = !ls``, and return its output's lines."""
        line = self._with_values(command)
        done = subprocess.run(line, shell=True, check=False, stdout=subprocess.PIPE, text=True)  # noqa: S602
        return done.stdout.splitlines()

    def _time(self, line: str) -> None:
        code = line[_TIMING.match(line).end() :]  # type: ignore[union-attr]  # it matches nothing as well
        exec(code, self._names)  # noqa: S102 - it is the notebook's own code

    def _env(self, line: str) -> Any:
        name, sign, value = line.strip().partition("=" if "=" in line else " ")
        if not sign:
            return os.environ.get(name) if name else dict(os.environ)
        os.environ[name.strip()] = value.strip()
        return None

    def _run(self, line: str) -> None:
        """Run another file, whose names the notebook has afterwards."""
        words = shlex.split(line)
        while words and words[0].startswith("-"):
            del words[0]
        given, sys.argv = sys.argv, words
        try:
            path = Path(words[0])
            names = runpy.run_path(
                str(path if path.is_file() else path.with_suffix(".py")), run_name="__main__"
            )
        finally:
            sys.argv = given
        self._names.update({name: value for name, value in names.items() if not name.startswith("__")})

    def _with_values(self, line: str) -> str:
        """Put values in the place of {expression} and $name, where they have one; the shell sees the others."""

        def value(found: re.Match[str]) -> str:
            try:
                return str(eval(found[1] or found[2], self._names))  # noqa: S307 - the notebook's own line
            except Exception:  # noqa: BLE001 - such as {a..z}, or a variable of the shell
                return found[0]

        return _VALUES.sub(value, line)

    def _has_no_effect(self, words: str, name: str) -> None:
        if name not in _SHOWING:
            self._say(f"{words} has no effect in a notebook that runs as a script.")

    def __getattr__(self, name: str) -> Any:
        message = f"a notebook that runs as a script has no get_ipython().{name}"
        raise AttributeError(message)
