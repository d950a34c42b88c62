"""``python -m steptime``: the same as ``steptime``."""

import sys

from steptime.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
