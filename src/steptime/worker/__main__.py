"""``python -m steptime.worker RUN_FOLDER``: executes the plan in the folder and leaves a record there."""

import sys
from pathlib import Path

from steptime.worker.run import run

if __name__ == "__main__":
    sys.exit(run(Path(sys.argv[1])))
