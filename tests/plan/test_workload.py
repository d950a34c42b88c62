"""Where model and data come from, as far as it can be seen without running anything."""

import sys
from pathlib import Path

import pytest

from steptime.errors import UsageError
from steptime.plan.workload import BUILT_IN, parse_workload

GOOD = "def create_model(): ...\ndef load_data(): ...\n"


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "my_job.py"
    path.write_text(GOOD, encoding="utf-8")
    return path


def message_and_hint(text: str) -> tuple[str, str]:
    with pytest.raises(UsageError) as caught:
        parse_workload(text)
    return caught.value.message, caught.value.hint


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_job_is_found_by_name(name: str) -> None:
    workload = parse_workload(name)

    assert (workload.name, workload.kind, workload.target) == (name, "built-in", BUILT_IN[name])


def test_a_file_becomes_an_absolute_path(job: Path) -> None:
    workload = parse_workload("my_job.py")

    assert (workload.name, workload.kind, workload.target) == ("my_job", "file", str(job))
    assert (workload.model_function, workload.data_function) == ("create_model", "load_data")


def test_functions_of_other_names_follow_a_colon(job: Path) -> None:
    job.write_text("def net(): ...\ndef images(): ...\ndef ready(model): ...\ndef load_data(): ...\n")

    assert parse_workload("my_job.py:net").model_function == "net"
    workload = parse_workload("./my_job.py:net, images,ready")
    assert (workload.model_function, workload.data_function, workload.compile_function) == (
        "net",
        "images",
        "ready",
    )


@pytest.mark.parametrize("names", ["a-b", "net,", "a,b,c,d", "1"])
def test_function_names_that_are_none_are_refused(job: Path, names: str) -> None:
    message, hint = message_and_hint(f"my_job.py:{names}")

    assert (
        message
        == f"Function names must be MODEL, MODEL,DATA or MODEL,DATA,COMPILE. Received: 'my_job.py:{names}'"
    )
    assert hint == "For example: my_job.py:build_model,read_data"


def test_a_missing_file_names_a_near_one(job: Path) -> None:
    assert message_and_hint("my_jop.py") == (
        "The workload file must exist. Received: 'my_jop.py'",
        "Did you mean 'my_job.py'?",
    )


def test_a_missing_file_without_a_near_one_points_to_the_starter(tmp_path: Path) -> None:
    message, hint = message_and_hint(str(tmp_path / "no" / "such.py"))

    assert message.startswith("The workload file must exist.")
    assert "steptime new my_job.py" in hint


def test_a_folder_is_refused(tmp_path: Path) -> None:
    message, _ = message_and_hint(f"{tmp_path}/")

    assert message == f"The workload must be a readable Python file. Received: '{tmp_path}' (Is a directory)"


def test_a_syntax_error_names_its_line(job: Path) -> None:
    job.write_text("x = 1\ndef create_model(:\n")

    assert message_and_hint("my_job.py") == (
        "my_job.py must be valid Python. Line 2: invalid syntax",
        "Mend that line.",
    )


@pytest.mark.parametrize("content", [b"\x00\x01", b"\xff\xfe binary", b"(" * 5000])
def test_a_file_that_is_no_python_is_refused(job: Path, content: bytes) -> None:
    job.write_bytes(content)

    assert message_and_hint("my_job.py")[0].startswith("my_job.py must be valid Python.")


@pytest.mark.parametrize("prefix", ["\ufeff", "# -*- coding: utf-8 -*-\n", "x = '\\d'\n"])
def test_a_byte_order_mark_or_bad_style_is_not_refused(job: Path, prefix: str) -> None:
    job.write_text(prefix + GOOD, encoding="utf-8")

    assert parse_workload("my_job.py").kind == "file"


def test_a_missing_function_names_a_near_one(job: Path) -> None:
    job.write_text("def create_modell(): ...\ndef load_data(): ...\n")

    assert message_and_hint("my_job.py") == (
        "my_job.py must define create_model(). It defines: create_modell, load_data",
        "Name it create_model, or say my_job.py:create_modell.",
    )


def test_a_file_without_functions_points_to_the_starter(job: Path) -> None:
    job.write_text("x = 1\n")
    message, hint = message_and_hint("my_job.py")

    assert message == "my_job.py must define create_model(). It defines: no functions"
    assert "steptime new" in hint


def test_a_function_inside_another_or_in_a_class_is_none_of_the_module(job: Path) -> None:
    job.write_text("def load_data():\n  def create_model(): ...\nclass A:\n  def create_model(self): ...\n")

    assert message_and_hint("my_job.py")[0] == "my_job.py must define create_model(). It defines: load_data"


@pytest.mark.parametrize(
    "source",
    [
        "from other import create_model, load_data\n",
        "from other import *\n",
        "import a as create_model\nload_data = lambda: 1\n",
        "if True:\n  def create_model(): ...\ntry:\n  load_data = 3\nexcept OSError: ...\n",
        "class create_model: ...\ndef load_data(*args, key=1, **more): ...\n",
    ],
)
def test_functions_that_come_from_elsewhere_are_left_to_the_worker(job: Path, source: str) -> None:
    job.write_text(source)

    assert parse_workload("my_job.py").kind == "file"


@pytest.mark.parametrize(
    ("signature", "needs"), [("size, depth=1", "size"), ("a, /, b", "a, b"), ("*, key", "key")]
)
def test_a_function_that_needs_arguments_is_refused_with_its_line(
    job: Path, signature: str, needs: str
) -> None:
    job.write_text(f"def load_data(): ...\n\ndef create_model({signature}): ...\n")

    assert message_and_hint("my_job.py") == (
        f"create_model() must be callable without arguments. my_job.py:3 needs: {needs}",
        "Give each argument a default value.",
    )


def test_a_module_is_found_in_the_current_folder_without_importing_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    package = tmp_path / "my_package_of_jobs"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('imported')\n")
    (package / "job.py").write_text(GOOD)
    (package / "bad.py").write_text("def load_data(): ...\n")
    workload = parse_workload("my_package_of_jobs.job:create_model")

    assert (workload.kind, workload.target) == ("module", "my_package_of_jobs.job")
    assert "my_package_of_jobs" not in sys.modules
    assert "must define create_model()" in message_and_hint("my_package_of_jobs.bad")[0]
    for missing in ("my_package_of_jobs.no", "my_package_of_jobs.job.deeper"):
        assert message_and_hint(missing)[0].endswith(f"Received: '{missing}'")


@pytest.mark.parametrize(("text", "hint"), [("mnist-cn", "Did you mean 'mnist-cnn'?"), ("", "`steptime new")])
def test_what_is_neither_name_nor_file_nor_module_is_refused(text: str, hint: str) -> None:
    message, given = message_and_hint(text)

    assert message == (
        f"The workload must be mnist-cnn, mnist-mlp, mnist-lstm, a Python file or a module. Received: {text!r}"
    )
    assert given.startswith(hint)
