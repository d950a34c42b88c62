"""Keras' data sets without a network: a local copy where Keras' own download fails, and never without a word."""

import functools
import os
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any

from steptime.errors import UsageError

# Names the folder of Fashion-MNIST's four files, as they are published (train-images-idx3-ubyte.gz and so on).
FASHION_VARIABLE = "STEPTIME_FASHION_MNIST"

Say = Callable[[str], None]


def give_local_data(keras: ModuleType, say: Say) -> None:
    """Let ``keras.datasets.mnist`` and ``fashion_mnist`` fall back to a local copy.

    Keras' cache and its download come first, as always.

    Args:
        keras: The package ``keras`` or ``tf_keras``.
        say: Takes the line that says whose data a script got.
    """
    for name, local in (("mnist", _packaged_mnist), ("fashion_mnist", _named_fashion_mnist)):
        module = sys.modules.get(f"{keras.__name__}.src.datasets.{name}")
        if module is not None and hasattr(module, "get_file"):
            vars(module)["get_file"] = _with_fallback(vars(module)["get_file"], local, say)


def _with_fallback(get_file: Callable[..., Any], local: Callable[[str, Say], Path | None], say: Say) -> Any:
    @functools.wraps(get_file)
    def get(*args: Any, **kwargs: Any) -> Any:
        try:
            return get_file(*args, **kwargs)
        except Exception as error:
            # Keras raises a bare Exception with this text when a download fails; whatever else goes on.
            if not (isinstance(error, OSError) or str(error).startswith("URL fetch failure")):
                raise
            path = local(str(kwargs.get("fname", args[0] if args else "")), say)
            if path is None:
                raise
            return str(path)

    return get


def _packaged_mnist(fname: str, say: Say) -> Path:  # noqa: ARG001 - there is but one file
    say(
        "Keras could not download MNIST: the script got the same images from the copy that comes with steptime."
    )
    return Path(str(files("steptime.workloads") / "data" / "mnist.npz"))


def _named_fashion_mnist(fname: str, say: Say) -> Path | None:
    folder = os.environ.get(FASHION_VARIABLE)
    if not folder:
        say(
            f"Keras could not download Fashion-MNIST. {FASHION_VARIABLE}=FOLDER names a local copy of its files."
        )
        return None
    path = Path(folder).expanduser() / fname
    if not path.is_file():
        raise UsageError(
            f"{FASHION_VARIABLE} must name a folder that holds {fname}. Received: {folder!r}",
            hint="It takes the four files as they are published, compressed.",
        )
    if fname.startswith("train-labels"):
        say(f"Keras could not download Fashion-MNIST: the script got the copy in {folder}.")
    return path
