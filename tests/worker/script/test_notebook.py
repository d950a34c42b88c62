"""Notebooks: what their cells may use, and what is said where they cannot be converted."""

import importlib.util
import json
import types
from pathlib import Path

import pytest

from steptime.errors import UsageError
from steptime.worker.script.notebook import Shell, convert_notebook


@pytest.fixture
def module() -> types.ModuleType:
    return types.ModuleType("__main__")


def test_cells_below_time_run_and_below_capture_run_silently(
    module: types.ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = Shell(module)

    shell.run_cell_magic("time", "", "x = 1")
    shell.run_cell_magic("capture", "", "print('hidden'); y = x + 1")
    shell.run_line_magic("time", "z = y + 1")

    assert (module.x, module.y, module.z) == (1, 2, 3)  # type: ignore[attr-defined]
    assert capsys.readouterr().out == ""


def test_magics_about_showing_have_no_effect(module: types.ModuleType) -> None:
    shell = Shell(module)

    shell.run_line_magic("matplotlib", "inline")
    shell.run_line_magic("tensorboard", "--logdir logs")
    shell.run_cell_magic("html", "", "<b>no Python</b>")

    assert not hasattr(module, "b")


def test_shell_lines_run(module: types.ModuleType, capfd: pytest.CaptureFixture[str]) -> None:
    shell = Shell(module)

    shell.system("echo one")
    assert shell.getoutput("echo two; echo three") == ["two", "three"]
    assert capfd.readouterr().out == "one\n"


def test_what_only_a_notebook_has_is_an_error_that_says_so(module: types.ModuleType) -> None:
    with pytest.raises(AttributeError, match=r"no get_ipython\(\)\.kernel"):
        Shell(module).kernel  # noqa: B018


@pytest.mark.skipif(importlib.util.find_spec("nbconvert") is not None, reason="nbconvert is installed")
def test_without_nbconvert_the_error_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nbconvert") as caught:
        convert_notebook(tmp_path / "nb.ipynb", tmp_path)

    assert "pip install nbconvert" in caught.value.hint


@pytest.mark.skipif(importlib.util.find_spec("nbconvert") is None, reason="nbconvert is not installed")
def test_the_code_cells_become_a_python_file(tmp_path: Path) -> None:
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "execution_count": None, "outputs": []}
    book = {
        "cells": [{**cell, "source": "x = 1"}, {**cell, "id": "b", "source": "%matplotlib inline\ny = 2"}],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path = tmp_path / "nb.ipynb"
    path.write_text(json.dumps(book), encoding="utf-8")
    names = {"get_ipython": lambda: Shell(types.ModuleType("__main__"))}

    exec(convert_notebook(path, tmp_path).read_text(encoding="utf-8"), names)

    assert (names["x"], names["y"]) == (1, 2)
