"""``python -m steptime.worker RUN_FOLDER``: executes the plan in the folder and leaves a record there."""

import atexit
import os
import sys
from pathlib import Path
from typing import NoReturn

from steptime.worker.run import run


def _leave(code: int) -> NoReturn:
    """End the process of a workload without taking the interpreter down first.

    A script never comes here: it ends as Python ends it, which writes what its open files still hold. A thread of
    tf.data that is inside a person's Python function waits for the interpreter, and a process that ends in the
    usual way waits for that thread: it would hang for ever, with its record written.
    """
    atexit._run_exitfuncs()  # processes that load data are ended there
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main() -> NoReturn:
    """Execute the plan in the folder that the command line names, and end the process."""
    _leave(run(Path(sys.argv[1])))


if __name__ == "__main__":
    main()
