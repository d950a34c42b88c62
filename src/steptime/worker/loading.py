"""Brings in a workload: imports its module, calls its functions, and names the person's own line when one fails."""

import errno
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from steptime.errors import RunError, SteptimeError, UsageError
from steptime.plan.workload import Workload


def import_workload(workload: Workload) -> ModuleType:
    """Import the workload's module or file; files beside it can be imported by it.

    Raises:
        RunError: Its own code failed.
    """
    if workload.kind != "file":
        sys.path.insert(0, str(Path.cwd()))
        module: ModuleType = guarded(
            lambda: importlib.import_module(workload.target), f"Importing {workload.target}"
        )
        return module
    path = Path(workload.target)
    sys.path.insert(0, str(path.parent))
    sys.path.append(str(Path.cwd()))  # last: what lies there replaces no library
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"The workload must be a Python file. Received: {str(path)!r}", hint="Name it *.py.")
    module = importlib.util.module_from_spec(spec)
    # Custom Keras layers are saved under their module's name, so it must be importable under it.
    sys.modules[path.stem] = module
    loader = spec.loader
    guarded(lambda: loader.exec_module(module), f"Importing {path.name}")
    return module


def workload_function(module: ModuleType, name: str, workload: Workload) -> Callable[..., Any]:
    """Return a function of the workload.

    Raises:
        UsageError: It is missing or cannot be called without arguments.
    """
    function: Callable[..., Any] | None = getattr(module, name, None)
    if not callable(function):
        raise UsageError(
            f"{workload.name} must define {name}(). Received: {type(function).__name__}",
            hint=f"Name another one with {workload.name}:FUNCTION.",
        )
    try:
        inspect.signature(function).bind()
    except TypeError as error:
        raise UsageError(
            f"{name}() must be callable without arguments: {error}",
            hint="Give each argument a default value.",
        ) from None
    except ValueError:
        pass  # Built-in callables have no signature to check.
    return function


def guarded(call: Callable[[], Any], what: str) -> Any:
    """Call a person's code; turn whatever it raises into an error that names their own file and line.

    Raises:
        RunError: It raised. The whole traceback goes to worker.log.
    """
    try:
        return call()
    except SteptimeError:
        raise
    except (Exception, SystemExit) as error:  # whatever a person's code raises is an answer
        if is_full_disk(error) or is_out_of_memory(error):
            raise
        traceback.print_exc()
        raise RunError(
            f"{what} failed: {type(error).__name__}: {first_line(error)}{_place(error)}",
            hint="The whole traceback is in worker.log; --debug prints it.",
        ) from error


def is_full_disk(error: BaseException) -> bool:
    """Whether an error says that the disk, or the person's share of it, is full."""
    # TensorFlow's file systems say it with the error that its allocators use.
    by_tensorflow = "ResourceExhausted" in type(error).__name__ and "No space left on device" in str(error)
    return by_tensorflow or (isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT))


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that the memory of the host or of the device is used up."""
    # TensorFlow's allocator raises ResourceExhaustedError; XLA puts its code into the text of another error.
    exhausted = "ResourceExhausted" in type(error).__name__ or "RESOURCE_EXHAUSTED" in str(error)
    return isinstance(error, MemoryError) or (exhausted and not is_full_disk(error))


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text that says something, shortened."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else "no message"
    return text if len(text) <= 300 else text[:297] + "..."


def _place(error: BaseException) -> str:
    """Name the innermost line that is neither steptime's nor a library's."""
    own_package = str(Path(__file__).parent.parent)
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(own_package)
        and "site-packages" not in frame.filename
        and not frame.filename.startswith(("<", sys.base_prefix))
    ]
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}, line {error.lineno})"
    return f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
