"""scripts/test: which tests run, and that no failure is lost. pytest itself is a stand-in here."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Notes what it was asked for; fails where the argument named by $FAILS is among it.
PYTEST = """#!/bin/sh
echo "$*"
case "$*" in *"${FAILS:-nothing}"*) exit 1 ;; esac
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    stand_ins = {"scripts/setup": '#!/bin/sh\n[ "$*" = --dev ]\n', ".venv/bin/python": PYTEST}
    for name, text in stand_ins.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    shutil.copy(ROOT / "scripts" / "test", tmp_path / "scripts" / "test")
    return tmp_path


def run(clone: Path, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [clone / "scripts" / "test", *args],
        env={"PATH": os.defpath, **env},
        capture_output=True,
        text=True,
        timeout=30,
    )


def test_tests_without_tensorflow_run_first(clone: Path) -> None:
    done = run(clone)

    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "-m pytest -n auto -m not tensorflow and not ray and not slow and not browser and not gpu",
        "-m pytest -n 2 --dist loadfile -m (tensorflow or ray or slow) and not browser and not gpu",
    ]


@pytest.mark.parametrize("fails", ["-m not tensorflow", "-m (tensorflow"])
def test_a_failing_stage_fails_the_whole_and_hides_no_other(clone: Path, fails: str) -> None:
    done = run(clone, FAILS=fails)

    assert done.returncode == 1
    assert len(done.stdout.splitlines()) == 2


def test_arguments_go_to_pytest(clone: Path) -> None:
    done = run(clone, "tests/plan", "-k", "one or two")

    assert done.stdout == "-m pytest tests/plan -k one or two\n"


def test_missing_browser_is_said(clone: Path) -> None:
    (clone / "tests" / "browser").mkdir(parents=True)
    (clone / "bin").mkdir()
    (clone / "bin" / "dirname").symlink_to(str(shutil.which("dirname")))

    assert "browser tests are NOT run" in run(clone, PATH=str(clone / "bin")).stderr


def test_browser_tests_run_where_there_is_a_browser(clone: Path) -> None:
    (clone / "tests" / "browser").mkdir(parents=True)
    (clone / "bin").mkdir()
    (clone / "bin" / "chromium").write_text("#!/bin/sh\n")
    (clone / "bin" / "chromium").chmod(0o755)
    done = run(clone, PATH=f"{clone / 'bin'}{os.pathsep}{os.defpath}")

    assert (
        done.stdout.splitlines()[1]
        == "-m pytest -n 2 --dist loadfile -m (tensorflow or ray or slow or browser) and not gpu"
    )
