"""Runs a script as ``python script.py`` does, with everything that is measured around it."""

import builtins
import ctypes
import os
import signal
import sys
import threading
import types
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import NoReturn

from steptime.errors import SteptimeError
from steptime.plan.plan import LAUNCHED_VARIABLE, Plan
from steptime.plan.script import NOTEBOOK_SUFFIX
from steptime.worker.script import frames
from steptime.worker.script.outcome import outcome_of_script
from steptime.worker.script.session import Session

_PR_SET_PDEATHSIG = 1  # prctl(2)


def run_script(folder: Path, plan: Plan, created: str, origin_ns: int) -> NoReturn:
    """Run a script to its end, and end as Python does: what is open is written, objects are finalised.

    Args:
        folder: Its run folder.
        plan: Its plan.
        created: When it was planned.
        origin_ns: When this process was started, on the clock of ``perf_counter_ns``.

    Raises:
        SystemExit: Always, with the exit code or what the script said itself.
    """
    _die_with_the_launcher()
    # Whatever the script starts has nothing to do with when this process was started.
    os.environ.pop(LAUNCHED_VARIABLE, None)
    path = Path(plan.workload.target).absolute()
    session = Session(folder, plan, created, origin_ns, path)
    session.events.write("phase", name="script", words="running the script")
    error: BaseException | None = None
    try:
        with session.imports.watching():
            _execute(plan, path, folder, session)
            _wait_for_threads()
    except BaseException as raised:  # noqa: BLE001 - every end of a script is recorded
        error = raised
    if not session.is_own_process:  # the script forked, and this is the child at its end
        _leave(error)
    if error is not None:
        frames.clean(error)
    place = frames.place_of(error, session.source) if error is not None else None
    session.conclude(outcome_of_script(error, place))
    _leave(error)


def _execute(plan: Plan, path: Path, folder: Path, session: Session) -> None:
    """Run the script with ``sys.argv``, ``sys.path[0]`` and ``__main__`` as ``python script.py`` makes them."""
    sys.argv = [plan.workload.target, *plan.workload.arguments]
    if not sys.flags.safe_path:
        # Python's own first entry, the working directory, is gone since this process was started.
        sys.path.insert(0, str(path.resolve().parent))
    module = types.ModuleType("__main__")
    if path.suffix == NOTEBOOK_SUFFIX:
        from steptime.worker.script.notebook import Shell, convert_notebook

        path = session.source = convert_notebook(path, folder)
        module.__dict__.update(get_ipython=lambda: Shell(module, session.say), display=print)
    module.__file__ = str(path)
    module.__loader__ = SourceFileLoader("__main__", str(path))
    module.__dict__.update(__builtins__=builtins, __annotations__={}, __cached__=None)
    # Pickle, inspect and multiprocessing's children look for the script's classes and functions here.
    sys.modules["__main__"] = module
    exec(compile(path.read_bytes(), str(path), "exec", dont_inherit=True), module.__dict__)  # noqa: S102


def _wait_for_threads() -> None:
    """Wait for the script's threads, as Python does at its end: they may still train."""
    # What Python calls first tells the idle threads of pools that were left open to end.
    for tell in reversed(list(getattr(threading, "_threading_atexits", ()))):
        tell()
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and not thread.daemon:
            thread.join()


def _leave(error: BaseException | None) -> NoReturn:
    """End as Python ends a script: with its traceback, which a script may have its own way to show."""
    if error is None:
        sys.exit(0)
    if isinstance(error, SystemExit):
        raise error
    if isinstance(error, SteptimeError):
        sys.exit(error.exit_code)  # the one who started this process says it
    sys.excepthook(type(error), error, error.__traceback__)
    sys.exit(130 if isinstance(error, KeyboardInterrupt) else 1)


def _die_with_the_launcher() -> None:
    """Ask Linux to kill this process when the one that started it is killed: to a person they are one program."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
