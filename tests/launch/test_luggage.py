"""What a workload takes along to other machines."""

from pathlib import Path

import pytest

from steptime.errors import UsageError
from steptime.launch import luggage
from steptime.launch.luggage import pack, unpacked
from steptime.plan.workload import Workload


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    for name in (
        "job.py", "parts/__init__.py", "parts/net.py", "data.csv", ".secret/key.py", "env/pyvenv.cfg",
        "env/lib/package.py", "parts/__pycache__/net.py",
    ):  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    (folder / "linked.py").symlink_to("/etc/passwd")
    return folder


def carried(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_file_takes_the_python_files_beside_and_below_it_along(home: Path, tmp_path: Path) -> None:
    workload = Workload(name="job", kind="file", target=str(home / "job.py"))
    bag = tmp_path / "bag"
    pack(workload, bag, tmp_path)

    assert carried(bag) == {"job.py", "parts/__init__.py", "parts/net.py"}
    assert unpacked(workload, bag).read_text() == "job.py"


def test_a_module_takes_those_of_the_current_folder_along(home: Path, tmp_path: Path) -> None:
    bag = tmp_path / "bag"
    pack(Workload(name="parts.net", kind="module", target="parts.net"), bag, home)

    assert "parts/net.py" in carried(bag)


def test_a_built_in_job_takes_nothing_along(home: Path, tmp_path: Path) -> None:
    bag = tmp_path / "bag"
    pack(Workload(name="mnist-cnn", kind="built-in", target="x"), bag, home)

    assert not bag.exists()


def test_too_much_is_refused(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(luggage, "_MOST_FILES", 2)

    with pytest.raises(UsageError, match="at most 2 Python files"):
        pack(Workload(name="job", kind="file", target=str(home / "job.py")), tmp_path / "bag", home)
