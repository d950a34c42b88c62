"""A state of a data iterator from which all that follows comes again, later readings of the data included.

TensorFlow saves how often a data set was shuffled with the state of each `shuffle`, and it drops a part of the pipeline
from the state once that part was read to its end. A state that is saved near the end of the data therefore gives the
rest of them, and then another order in every later epoch than there would have been. So the last whole state is kept,
and what was read since is read again.
"""

import contextlib
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tensorflow as tf

FAILURES = (tf.errors.OpError, ValueError, TypeError, AttributeError)
_FILES = ("iterator.index", "iterator.data-00000-of-00001")
# "name of a part@@key@@key..." in the serialized iterator; the key is that of a generator's own counter.
_PART = re.compile(rb"(Iterator::[^@\x00-\x1f]+)@@([^\x00-\x1f]*)")
_GENERATOR = b"epoch_num_random_samples"


class Anchor:
    """Keeps the last whole state in a folder.

    Args:
        folder: Its own; made when needed, and removed by `close`.
        generators: How many random generators of the data set go on from one reading to the next; None if unknown,
            and then no state is taken for whole.

    Attributes:
        where: What the last whole state's owner wrote down of its place; None before there is one.
    """

    def __init__(self, folder: Path, generators: int | None) -> None:
        self._folder = folder
        self._generators = generators
        self.where: Mapping[str, Any] | None = None

    @property
    def must_be_early(self) -> bool:
        """Whether a state from near the end of the data may not be whole."""
        return self._generators != 0

    def move_to(self, iterator: Any, where: Mapping[str, Any]) -> bool:
        """Keeps the iterator's state of now, if it is whole.

        Raises:
            FAILURES: TensorFlow cannot save it, or the disk is full.
        """
        new = self._folder / "new"
        new.mkdir(parents=True, exist_ok=True)
        tf.train.Checkpoint(iterator=iterator).write(str(new / "iterator"))
        if not self._is_whole(new):
            return False
        for name in _FILES:
            (new / name).replace(self._folder / name)
        self.where = where
        return True

    def copy_to(self, prefix: Path) -> None:
        """Gives the two files of the state other names that begin with `prefix`."""
        for name in _FILES:
            target = prefix.with_name(prefix.name + name.removeprefix("iterator"))
            try:
                os.link(self._folder / name, target)
            except OSError:  # A file system without links.
                shutil.copyfile(self._folder / name, target)

    def close(self) -> None:
        """Removes the folder."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _is_whole(self, folder: Path) -> bool:
        if not self._generators:
            return self._generators == 0
        content = (folder / _FILES[1]).read_bytes()
        return len({name for name, keys in _PART.findall(content) if _GENERATOR in keys}) == self._generators


def restore(iterator: Any, prefix: Path) -> None:
    """Puts a saved state in an iterator.

    Raises:
        ValueError: It is that of other data.
    """
    try:
        tf.train.Checkpoint(iterator=iterator).read(str(prefix)).assert_consumed()
    except (tf.errors.OpError, AssertionError) as error:
        raise ValueError(f"the iterator's state does not fit these data: {error}") from error


def reason_of(error: Exception) -> str:
    """Why TensorFlow could not save a state, without its machinery."""
    return " ".join(str(error).partition("}}")[2].split())[:200] or type(error).__name__


quietly = contextlib.suppress(*FAILURES, OSError)
