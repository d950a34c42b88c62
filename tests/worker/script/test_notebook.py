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


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def shell(module: types.ModuleType, said: list[str]) -> Shell:
    return Shell(module, said.append)


def test_cells_below_time_run_and_below_capture_run_silently(
    shell: Shell, module: types.ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.run_cell_magic("time", "", "x = 1")
    shell.run_cell_magic("capture", "", "print('hidden'); y = x + 1")
    shell.run_line_magic("time", "z = y + 1")

    assert (module.x, module.y, module.z) == (1, 2, 3)  # type: ignore[attr-defined]
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("options", ["", "-n 3 ", "-n3 -r 2 ", "-q -o ", "-tc ", "--no-raise-error "])
def test_options_of_timing_are_no_code(shell: Shell, module: types.ModuleType, options: str) -> None:
    shell.run_line_magic("timeit", f"{options}x = -1")
    shell.run_cell_magic("timeit", f"{options}y = 2", "z = x + y")

    assert (module.x, module.z) == (-1, 1)  # type: ignore[attr-defined]


def test_magics_about_showing_have_no_effect_and_any_other_one_is_named(
    shell: Shell, said: list[str]
) -> None:
    shell.run_line_magic("matplotlib", "inline")
    shell.run_line_magic("tensorboard", "--logdir logs")
    shell.run_cell_magic("html", "", "<b>no Python</b>")
    assert said == []

    shell.run_line_magic("store", "x")
    shell.run_cell_magic("cython", "", "no Python")
    assert said == [
        f"{name} has no effect in a notebook that runs as a script." for name in ("%store", "%%cython")
    ]


def test_magics_that_act_do(
    shell: Shell, module: types.ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEPTIME_TEST", "before")
    (tmp_path / "sub folder").mkdir()
    module.where = "sub folder"  # type: ignore[attr-defined]

    shell.run_line_magic("cd", "{where}")
    assert shell.run_line_magic("pwd", "") == str(tmp_path / "sub folder")
    shell.run_line_magic("env", "STEPTIME_TEST=after a while")
    assert shell.run_line_magic("env", "STEPTIME_TEST") == "after a while"
    shell.run_line_magic("set_env", "STEPTIME_TEST $where")
    assert shell.run_line_magic("env", "STEPTIME_TEST") == "sub folder"
    shell.run_cell_magic("writefile", "other.py", "import sys\n")
    shell.run_cell_magic("writefile", "-a other.py", "given = (__name__, sys.argv)\n")
    shell.run_line_magic("run", "-i other 'a b'")

    assert module.given == ("__main__", ["other", "a b"])  # type: ignore[attr-defined]


def test_shell_lines_run_with_the_notebooks_values(
    shell: Shell, module: types.ModuleType, capfd: pytest.CaptureFixture[str]
) -> None:
    module.x = 3  # type: ignore[attr-defined]

    shell.system("echo {x + 1} $x; echo a | awk '{print $1}'")
    assert shell.getoutput("echo two; echo three") == ["two", "three"]
    assert capfd.readouterr().out == "4 3\na\n"


def test_what_only_a_notebook_has_is_an_error_that_says_so(shell: Shell) -> None:
    with pytest.raises(AttributeError, match=r"no get_ipython\(\)\.kernel"):
        shell.kernel  # noqa: B018


@pytest.mark.skipif(importlib.util.find_spec("nbconvert") is not None, reason="nbconvert is installed")
def test_without_nbconvert_the_error_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nbconvert") as caught:
        convert_notebook(tmp_path / "nb.ipynb", tmp_path)

    assert "pip install nbconvert" in caught.value.hint


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("nbconvert") is None, reason="nbconvert is not installed")
def test_the_code_cells_become_a_python_file(tmp_path: Path) -> None:
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "execution_count": None, "outputs": []}
    book = {
        "cells": [
            {**cell, "source": "x = 1"},
            {**cell, "id": "b", "source": "%matplotlib inline\ny = 2\n%timeit -n 3 1 + 1\n!true"},
        ],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path = tmp_path / "nb.ipynb"
    path.write_text(json.dumps(book), encoding="utf-8")
    names = {"get_ipython": lambda: Shell(types.ModuleType("__main__"), print)}

    exec(convert_notebook(path, tmp_path).read_text(encoding="utf-8"), names)

    assert (names["x"], names["y"]) == (1, 2)
