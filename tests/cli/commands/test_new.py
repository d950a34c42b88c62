"""``steptime new``."""

import ast
from pathlib import Path
from typing import Any

from steptime.plan.workload import parse_workload


def test_the_starter_is_a_workload_and_says_how_to_train_it(steptime: Any, here: Path) -> None:
    assert steptime("new", "my_job.py") == (
        0,
        "",
        "wrote my_job.py; train it with: steptime train my_job.py\n",
    )

    assert parse_workload("my_job.py").kind == "file"
    assert "steptime train my_job.py" in (
        ast.get_docstring(ast.parse((here / "my_job.py").read_text())) or ""
    )


def test_a_file_that_exists_stays_as_it_is(steptime: Any, here: Path) -> None:
    (here / "my_job.py").write_text("mine")

    assert steptime("new", "my_job.py") == (
        2,
        "",
        "error: The file must not exist. Received: 'my_job.py'\nhint: Choose another name.\n",
    )
    assert (here / "my_job.py").read_text() == "mine"


def test_a_name_that_is_no_python_file_is_refused(steptime: Any) -> None:
    assert (
        steptime("new", "job").err
        == "error: The file must end in .py. Received: 'job'\nhint: For example: my_job.py\n"
    )


def test_a_folder_that_does_not_exist_is_refused(steptime: Any) -> None:
    code, _, err = steptime("new", "no/job.py")

    assert code == 2
    assert err.startswith(
        "error: The file must be writable. Received: 'no/job.py' (No such file or directory)\nhint: "
    )
