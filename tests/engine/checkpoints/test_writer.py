"""Writing beside the training: what stays, and what a full disk changes."""

import errno
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steptime.engine.checkpoints import format as files
from steptime.engine.checkpoints.writer import Draft, Writer


def draft(sequence: int, score: float | None = None) -> Draft:
    name = files.name_of(sequence, sequence, 0)
    return Draft(name=name, arrays=[np.arange(3)], state={"n": sequence}, iterator=None, score=score)


def write_all(writer: Writer, *drafts: Draft) -> None:
    for item in drafts:
        writer.write(item)
    writer.wait()


def kept(folder: Path) -> list[int]:
    return [files.sequence_of(path) for path in files.listed(folder)]


def test_the_last_few_stay(tmp_path: Path) -> None:
    writer = Writer(tmp_path, 3, None, print)

    write_all(writer, *(draft(n) for n in range(1, 7)))

    assert kept(tmp_path) == [4, 5, 6]
    assert writer.written == 6
    assert writer.bytes > 0


def test_the_best_stays_as_well_until_a_better_one_comes(tmp_path: Path) -> None:
    writer = Writer(tmp_path, 1, None, print)

    write_all(writer, draft(1, 0.5), draft(2, 0.9), draft(3, 0.7), draft(4))
    assert kept(tmp_path) == [2, 4]

    write_all(writer, draft(5, 0.95), draft(6))
    assert kept(tmp_path) == [5, 6]


def test_the_best_of_an_earlier_process_is_known(tmp_path: Path) -> None:
    write_all(Writer(tmp_path, 1, None, print), draft(1, 0.9))
    writer = Writer(tmp_path, 1, (files.name_of(1, 1, 0), 0.9), print)

    write_all(writer, draft(2, 0.8), draft(3, 0.7))

    assert kept(tmp_path) == [1, 3]


def test_a_full_disk_costs_the_new_one_and_none_of_the_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    writer = Writer(tmp_path, 1, None, said.append)
    write_all(writer, draft(1))

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(files, "write_arrays", full)
        write_all(writer, draft(2))

    assert kept(tmp_path) == [1]
    assert [path.name for path in tmp_path.iterdir()] == [files.name_of(1, 1, 0)]
    assert "No space left" in said[0]
    assert "training goes on" in said[0]

    write_all(writer, draft(3))
    assert kept(tmp_path) == [3]
