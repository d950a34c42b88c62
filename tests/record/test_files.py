"""Files that are whole or not there."""

import errno
import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from steptime.record import files

KILLED_BEFORE_THE_RENAME = """
import os, pathlib, signal, sys
from steptime.record import files
pathlib.Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
files.write_json(pathlib.Path(sys.argv[1]), {"content": "new"})
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_kill_between_write_and_rename_leaves_the_old_content(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    files.write_json(path, {"content": "old"})
    done = subprocess.run([sys.executable, "-c", KILLED_BEFORE_THE_RENAME, str(path)])

    assert done.returncode == -signal.SIGKILL
    assert json.loads(path.read_text()) == {"content": "old"}
    assert len(names(tmp_path)) == 2, "the new content had been written beside it"


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_while_writing_leaves_the_old_content_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    path = tmp_path / "run.json"
    files.write_json(path, "old")

    def fail(descriptor: int) -> None:
        raise error

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(type(error)):
        files.write_json(path, "new")

    assert json.loads(path.read_text()) == "old"
    assert names(tmp_path) == ["run.json"]


def test_nan_and_infinities_become_null(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    files.write_json(path, {"a": [math.nan, math.inf, -math.inf, 1.5], "b": {"c": np.float64("nan")}})

    assert json.loads(path.read_text(), parse_constant=pytest.fail) == {
        "a": [None, None, None, 1.5],
        "b": {"c": None},
    }


def test_text_in_any_script_and_names_that_are_no_utf8_survive(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    value = ["模型", os.fsdecode(b"caf\xe9.py")]
    files.write_json(path, value)

    assert "模型" in path.read_text(encoding="utf-8")
    assert json.loads(path.read_text(encoding="utf-8")) == value


def test_arrays_open_without_pickle(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    files.write_arrays(path, {"duration_ns": np.arange(3), "loop": np.array(["keras", "graph", "xla"])})

    with np.load(path, allow_pickle=False) as archive:
        assert archive["duration_ns"].tolist() == [0, 1, 2]
        assert archive["loop"].tolist() == ["keras", "graph", "xla"]


def test_arrays_of_objects_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Received objects in: b"):
        files.write_arrays(tmp_path / "a.npz", {"a": np.arange(3), "b": np.array([None, 1])})

    assert names(tmp_path) == []
