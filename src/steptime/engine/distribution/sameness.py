"""Are all processes about to do the same? Asked before the first step, because afterwards nobody would notice."""

import hashlib
import importlib.metadata
import platform
from collections.abc import Iterable, Mapping
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from steptime.engine.distribution.group import Group
from steptime.errors import UsageError

# More is not hashed of one array: every so many rows are then taken, over its whole length.
_HASHED_BYTES = 1 << 28
_PACKAGES = ("steptime", "tensorflow", "tensorflow-cpu", "keras", "numpy")
# Whole numbers of 48 bits pass through float64, in which workers exchange.
_HEX_DIGITS = 12


def check_same(group: Group, facts: Mapping[str, str]) -> None:
    """Compares what each process holds.

    Args:
        group: Who trains.
        facts: Name of a fact, in words, to its value; the same names in every process.

    Raises:
        UsageError: A fact differs; the message names it and the workers that differ from the chief.
    """
    if group.workers == 1:
        return
    table = group.gathered([_number(value) for value in facts.values()])
    for column, (name, value) in enumerate(facts.items()):
        others = [rank for rank in range(group.workers) if table[rank, column] != table[0, column]]
        if others:
            ranks = ", ".join(str(rank) for rank in others)
            raise UsageError(
                f"All workers must have the same {name}. Worker {ranks} differs from worker 0; "
                f"worker {group.rank} has {value[:100]}",
                hint=_HINTS.get(name, "Start every worker with the same program and arguments."),
            )


_HINTS = {
    "versions": "Install the same versions on every machine: pip freeze there shows what is installed.",
    "newest checkpoint": "All workers read the chief's checkpoints: keep the run on a disk that all share.",
    "first batch": "All read the same stream and compute their shares of it: give shuffle() a seed, or call "
    "keras.utils.set_random_seed first, and give every worker the same files.",
    "data": "Give every worker the same files and the same order; random data need a fixed seed.",
}


def versions() -> str:
    """Versions of what computes, such as "python 3.11.7, keras 3.15.1, ..."."""
    found = [f"python {platform.python_version()}"]
    for package in _PACKAGES:
        try:
            found.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return ", ".join(found)


def arrays_text(tensors: Any) -> str:
    """Shapes and a hash of arrays: of all bytes, or of rows spread evenly over arrays beyond 256 MiB."""
    flat = [np.asarray(t) for t in tf.nest.flatten(tensors) if t is not None and not _is_absent(t)]
    shapes = ", ".join(f"{array.dtype} {array.shape}" for array in flat)
    return f"{shapes} with hash {_digest(map(_rows, flat))}"


def model_text(model: keras.Model) -> str:
    """Number and shapes of all variables, and the optimizer; names count models made before and may differ."""
    shapes = [f"{variable.dtype} {tuple(variable.shape)}" for variable in model.variables]
    optimizer = type(model.optimizer).__name__
    return f"{len(shapes)} variables, {optimizer}, shapes with hash {_digest([repr(shapes).encode()])}"


def _is_absent(value: Any) -> bool:
    return isinstance(value, tf.experimental.Optional)


def _rows(array: Any) -> bytes:
    every = max(1, -(-array.nbytes // _HASHED_BYTES))
    rows = np.ascontiguousarray(array[::every] if array.ndim else array)
    return repr(rows.tolist()).encode() if rows.dtype.hasobject else rows.tobytes()


def _digest(pieces: Iterable[bytes]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def _number(value: str) -> int:
    return int(hashlib.sha256(value.encode()).hexdigest()[:_HEX_DIGITS], 16)
