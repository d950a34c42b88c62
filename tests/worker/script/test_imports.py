"""A module is told of once it is imported, and is otherwise as it was."""

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from steptime.worker.script.imports import ImportWatch


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in ``sys.path`` with two modules, one of which imports the other."""
    (tmp_path / "inner_watched.py").write_text("import time\ntime.sleep(0.05)\nVALUE = 1\n", encoding="utf-8")
    (tmp_path / "outer_watched.py").write_text("import inner_watched\nVALUE = 2\n", encoding="utf-8")
    (tmp_path / "broken_watched.py").write_text("raise RuntimeError('broken')\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path
    for name in ("inner_watched", "outer_watched", "broken_watched"):
        sys.modules.pop(name, None)


def test_each_module_is_told_of_once_after_its_own_code_ran(packages: Path) -> None:
    told: list[tuple[str, int]] = []

    def after(module: ModuleType) -> None:
        told.append((module.__name__, module.VALUE))

    watch = ImportWatch({"inner_watched": after, "outer_watched": after})
    with watch.watching():
        outer = importlib.import_module("outer_watched")
        importlib.import_module("outer_watched")

    assert told == [("inner_watched", 1), ("outer_watched", 2)]
    assert watch not in sys.meta_path
    assert "exec_module" not in vars(outer.__loader__)
    assert importlib.reload(outer).VALUE == 2


def test_the_time_of_nested_imports_counts_once(packages: Path) -> None:
    watch = ImportWatch(dict.fromkeys(("inner_watched", "outer_watched"), lambda module: None))
    alone = ImportWatch({"outer_watched": lambda module: None})

    with watch.watching():
        importlib.import_module("outer_watched")

    assert watch.import_ns >= 50_000_000
    assert alone.import_ns == 0


def test_asking_where_a_module_is_counts_for_nothing(packages: Path) -> None:
    told: list[ModuleType] = []

    with ImportWatch({"inner_watched": told.append}).watching():
        assert importlib.util.find_spec("inner_watched") is not None
        assert told == []
        module = importlib.import_module("inner_watched")

    assert told == [module]


def test_an_import_that_fails_fails_as_it_would(packages: Path) -> None:
    told: list[ModuleType] = []

    with ImportWatch({"broken_watched": told.append}).watching():
        with pytest.raises(RuntimeError, match="broken"):
            importlib.import_module("broken_watched")
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module("no_such_module_watched")

    assert told == []


def test_what_is_told_may_import_the_module_itself(packages: Path) -> None:
    seen: list[int] = []

    def after(module: ModuleType) -> None:
        seen.append(importlib.import_module("inner_watched").VALUE)

    with ImportWatch({"inner_watched": after}).watching():
        importlib.import_module("inner_watched")

    assert seen == [1]
