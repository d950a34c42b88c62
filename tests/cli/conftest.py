"""Commands called in this process, in a folder of their own, without a terminal."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from steptime.cli.main import main


class Answer(NamedTuple):
    """What a command gave."""

    code: int
    out: str
    err: str


Steptime = Callable[..., Answer]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("STEPTIME_RUNS", raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    return folder


@pytest.fixture
def steptime(here: Path, capsys: pytest.CaptureFixture[str]) -> Steptime:
    """Calls ``steptime`` and checks what must hold for every call: no traceback, ever."""

    def call(*arguments: str) -> Answer:
        capsys.readouterr()
        code = main(list(arguments))
        answer = Answer(code, *capsys.readouterr())
        assert "Traceback" not in answer.err + answer.out
        return answer

    return call
