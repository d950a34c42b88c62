"""An environment for each peer, made on first use: `python -m venv` and pip, pinned versions.

pip's own settings apply (an index with CPU builds of PyTorch saves gigabytes on Linux; see README).
"""

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

TORCH, KERAS, NUMPY = "torch==2.13.0", "keras==3.15.1", "numpy==2.4.6"
REQUIREMENTS = {
    "torch": (TORCH, NUMPY),
    "lightning": ("lightning==2.6.6", TORCH, NUMPY),
    "keras-jax": (KERAS, "jax==0.10.2", NUMPY),
    "keras-torch": (KERAS, TORCH, NUMPY),
}


class SetupFailedError(Exception):
    """An environment could not be made; the message is the last thing pip said."""


def default_folder() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "steptime-benchmarks"


def python_of(name: str, folder: Path) -> Path:
    """The interpreter of a peer's environment, made unless it is there with the same requirements."""
    place = folder / name
    python = place / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    done = place / "requirements.json"
    wanted = json.dumps(REQUIREMENTS[name])
    if done.exists() and done.read_text(encoding="utf-8") == wanted:
        return python
    venv.create(place, clear=True, with_pip=True)
    command = [str(python), "-m", "pip", "install", "--no-input", "--quiet", *REQUIREMENTS[name]]
    installed = subprocess.run(command, capture_output=True, text=True)
    if installed.returncode:
        raise SetupFailedError((installed.stderr.strip() or "pip failed").splitlines()[-1])
    done.write_text(wanted, encoding="utf-8")
    return python


if __name__ == "__main__":
    for peer in REQUIREMENTS:
        print(peer, python_of(peer, default_folder()))
