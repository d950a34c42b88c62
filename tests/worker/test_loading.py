"""A person's code, brought in and called."""

import errno
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from steptime.errors import RunError, UsageError
from steptime.plan.workload import Workload
from steptime.worker.loading import (
    first_line,
    guarded,
    import_workload,
    is_full_disk,
    is_out_of_memory,
    workload_function,
)


@pytest.fixture(autouse=True)
def same_modules_afterwards(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.fixture
def job(tmp_path: Path) -> Callable[[str], Workload]:
    def write(source: str) -> Workload:
        path = tmp_path / "a_persons_job.py"
        path.write_text(source, encoding="utf-8")
        return Workload(name="a_persons_job", kind="file", target=str(path))

    return write


def test_a_file_can_import_its_neighbours_and_is_known_by_its_name(job: Any, tmp_path: Path) -> None:
    (tmp_path / "a_neighbour.py").write_text("VALUE = 3\n")
    module = import_workload(job("import a_neighbour\nvalue = a_neighbour.VALUE\n"))

    assert module.value == 3
    assert sys.modules["a_persons_job"] is module


def test_a_module_is_imported_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a_module_of_jobs.py").write_text("value = 4\n")
    workload = Workload(name="a_module_of_jobs", kind="module", target="a_module_of_jobs")

    assert import_workload(workload).value == 4


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1\nraise LookupError('why\\nmore')\n", "LookupError: why ({path}, line 2)"),
        (
            "import no_such_module_at_all\n",
            "ModuleNotFoundError: No module named 'no_such_module_at_all' ({path}, line 1)",
        ),
        ("import json\n\njson.loads('{')\n", "JSONDecodeError: Expecting property name"),
        ("raise SystemExit('bye')\n", "SystemExit: bye ({path}, line 1)"),
        ("assert False\n", "AssertionError: no message ({path}, line 1)"),
        ("x = (\n", "SyntaxError: '(' was never closed"),
    ],
)
def test_what_fails_names_the_persons_own_file_and_line(
    job: Any, capsys: pytest.CaptureFixture[str], source: str, message: str
) -> None:
    workload = job(source)
    with pytest.raises(RunError) as caught:
        import_workload(workload)

    assert caught.value.message.startswith(
        "Importing a_persons_job.py failed: " + message.format(path=workload.target)
    )
    assert f"{workload.target}, line " in caught.value.message
    assert "Traceback" in capsys.readouterr().err, "the whole of it goes to worker.log"


def test_a_library_that_fails_deep_inside_is_reported_at_the_persons_line(job: Any) -> None:
    workload = job("import json\n\n\ndef read():\n    return json.loads('{')\n\n\nread()\n")
    with pytest.raises(RunError, match=r"line 5\)$"):
        import_workload(workload)


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), MemoryError(), UsageError("a", hint="b"), OSError(errno.ENOSPC, "full")]
)
def test_what_has_a_meaning_of_its_own_passes_through(error: BaseException) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        guarded(fail, "It")
    assert caught.value is error


def test_a_missing_function_and_one_with_arguments_are_refused(job: Any) -> None:
    workload = job(
        "def needs(size): ...\nnumber = 3\n\ndef fine(size=1, *more, **others): ...\nclass Made: ...\n"
    )
    module = import_workload(workload)

    assert workload_function(module, "fine", workload) is module.fine
    assert workload_function(module, "Made", workload) is module.Made
    with pytest.raises(UsageError, match=r"must define absent\(\)\. Received: NoneType"):
        workload_function(module, "absent", workload)
    with pytest.raises(UsageError, match=r"must define number\(\)\. Received: int"):
        workload_function(module, "number", workload)
    with pytest.raises(UsageError, match=r"needs\(\) must be callable without arguments: missing .*'size'"):
        workload_function(module, "needs", workload)


class ResourceExhaustedError(Exception):
    """Named as TensorFlow names its own."""


@pytest.mark.parametrize(
    ("error", "full", "out"),
    [
        (OSError(errno.ENOSPC, "x"), True, False),
        (OSError(errno.EDQUOT, "x"), True, False),
        (OSError(errno.ENOENT, "x"), False, False),
        (MemoryError(), False, True),
        (ResourceExhaustedError("OOM"), False, True),
        (RuntimeError("RESOURCE_EXHAUSTED: Out of memory"), False, True),
        (ValueError("x"), False, False),
    ],
)
def test_a_full_disk_and_used_up_memory_are_recognised(error: Exception, full: bool, out: bool) -> None:
    assert (is_full_disk(error), is_out_of_memory(error)) == (full, out)


def test_the_first_line_that_says_something_is_kept_short() -> None:
    assert first_line(ValueError("\n\n  one \ntwo")) == "one"
    assert len(first_line(ValueError("x" * 999))) == 300
