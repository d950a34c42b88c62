"""scripts/setup, run by a real shell in a copy of this clone; only the installer itself is a stand-in."""

import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
# doctor-live is Python: it makes environments and judges what the doctor says in each.
SCRIPTS = [
    *sorted(path for path in (ROOT / "scripts").iterdir() if path.name != "doctor-live"),
    ROOT / ".ci" / "run",
]

# Installs an empty steptime, and notes how it was called.
UV = """#!/bin/sh
if [ "$1" = --version ]; then echo 'uv 1'; exit; fi
printf '%s\\n' "index=${UV_DEFAULT_INDEX:-} $*" >>"$UV_CALLS"
if [ -n "${UV_FAILS:-}" ]; then echo "$UV_FAILS" >&2; exit 1; fi
: >"$(.venv/bin/python -c 'import site; print(site.getsitepackages()[0])')/steptime.py"
"""
# pip takes seconds to unpack and this installer does not need it.
PYTHON = f"""#!/bin/sh
case "$1 $2" in
    '-m venv') exec '{sys.executable}' -m venv --without-pip "$3" ;;
    -c*) echo "$0" ;;
esac
"""
GPU_PLATFORM = pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"), reason="GPU wheels are for x86-64 Linux"
)


@dataclass
class Clone:
    """A clone whose PATH holds only what the machine of the test has."""

    path: Path
    bin: Path
    env: dict[str, str] = field(default_factory=dict)

    def command(self, name: str, text: str) -> None:
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def run(self, *args: str, script: str = "setup", **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.path / "scripts" / script, *args],
            env={**self.env, **env},
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def set_up(self, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        done = self.run(*args, **env)
        assert done.returncode == 0, done.stderr
        return done

    def installs(self) -> list[str]:
        calls = Path(self.env["UV_CALLS"])
        return calls.read_text().splitlines() if calls.exists() else []

    def leave_mark(self) -> Path:
        """A file that lives as long as this .venv does."""
        mark = self.path / ".venv" / "mark"
        mark.touch()
        return mark


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    path = tmp_path / "a clone"
    shutil.copytree(ROOT / "scripts", path / "scripts")
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, path / name)
    made = Clone(path, tmp_path / "bin")
    made.bin.mkdir()
    made.command("uv", UV)
    made.command("python3", PYTHON)
    # A driver of the machine under the test must not answer.
    made.command("nvidia-smi", "#!/bin/sh\nexit 9\n")
    made.env = {
        "PATH": f"{made.bin}{os.pathsep}/usr/bin{os.pathsep}/bin",
        "HOME": str(tmp_path / "home"),
        "UV_CALLS": str(tmp_path / "calls"),
        "STEPTIME_TENSORFLOW": "cpu",
    }
    return made


def test_a_fresh_clone_gets_pinned_packages_in_its_own_folder(clone: Clone) -> None:
    done = clone.set_up()

    (call,) = clone.installs()
    assert "--constraint constraints.txt --build-constraint constraints.txt" in call
    assert "--python .venv/bin/python" in call
    assert call.endswith("--editable .[cpu]")
    assert done.stdout == ""
    assert (clone.path / ".venv" / "bin" / "python").exists()
    assert not Path(clone.env["HOME"]).exists()


def test_a_second_call_installs_nothing(clone: Clone) -> None:
    clone.set_up()
    done = clone.set_up()

    assert len(clone.installs()) == 1
    assert "up to date" in done.stderr


def test_the_tools_are_added_in_place_and_stay(clone: Clone) -> None:
    clone.set_up()
    mark = clone.leave_mark()
    clone.set_up("--dev")
    clone.set_up()

    assert [call.rsplit(" ", 1)[1] for call in clone.installs()] == [".[cpu]", ".[cpu,dev]"]
    assert mark.exists()


def test_a_changed_pin_is_installed_in_place(clone: Clone) -> None:
    clone.set_up()
    mark = clone.leave_mark()
    with (clone.path / "constraints.txt").open("a") as pins:
        pins.write("another==1.0\n")
    clone.set_up()

    assert len(clone.installs()) == 2
    assert mark.exists()


def test_a_failed_install_shows_the_log_and_the_next_call_starts_anew(clone: Clone) -> None:
    failed = clone.run(UV_FAILS="disk: No space left on device")
    mark = clone.leave_mark()

    assert failed.returncode == 1
    assert "disk: No space left on device" in failed.stderr
    assert failed.stderr.splitlines()[-1] == "hint: free some disk space, then call it again"
    assert str(clone.path / ".venv" / "setup.log") in failed.stderr

    clone.set_up()
    assert not mark.exists()


@pytest.mark.parametrize("lost", ["bin/python", "steptime-setup", "pyvenv.cfg"])
def test_a_broken_environment_is_made_anew(clone: Clone, lost: str) -> None:
    clone.set_up()
    mark = clone.leave_mark()
    (clone.path / ".venv" / lost).unlink()
    clone.set_up()

    assert not mark.exists()
    assert len(clone.installs()) == 2


def test_a_moved_clone_is_set_up_anew(clone: Clone) -> None:
    clone.set_up()
    mark = clone.leave_mark()
    moved = Clone(clone.path.with_name("moved"), clone.bin, clone.env)
    clone.path.rename(moved.path)
    moved.set_up()

    assert not (moved.path / ".venv" / mark.name).exists()


def test_another_tensorflow_replaces_the_environment_and_stays(clone: Clone) -> None:
    clone.set_up()
    mark = clone.leave_mark()
    clone.set_up(STEPTIME_TENSORFLOW="none")
    clone.set_up(STEPTIME_TENSORFLOW="")

    assert [call.rsplit(" ", 1)[1] for call in clone.installs()] == [".[cpu]", "."]
    assert not mark.exists()


@GPU_PLATFORM
def test_a_driver_that_stops_answering_does_not_cost_the_gpu_build(clone: Clone) -> None:
    clone.command("nvidia-smi", "#!/bin/sh\necho 'GPU 0: NVIDIA T4 (UUID: GPU-1)'\n")
    clone.set_up(STEPTIME_TENSORFLOW="auto")
    clone.command("nvidia-smi", "#!/bin/sh\nexit 9\n")
    clone.set_up(STEPTIME_TENSORFLOW="auto")

    assert [call.rsplit(" ", 1)[1] for call in clone.installs()] == [".[gpu]"]


@GPU_PLATFORM
@pytest.mark.parametrize(
    ("answer", "chosen"),
    [
        ("echo 'GPU 0: NVIDIA T4 (UUID: GPU-1)'", "gpu"),
        ("echo 'No devices were found'; exit 6", "cpu"),
        ("echo 'NVIDIA-SMI has failed because it could not talk to the NVIDIA driver'; exit 9", "cpu"),
    ],
)
@pytest.mark.skipif(Path("/proc/driver/nvidia/version").exists(), reason="this machine has a driver")
def test_the_driver_decides_which_tensorflow_is_installed(clone: Clone, answer: str, chosen: str) -> None:
    clone.command("nvidia-smi", f"#!/bin/sh\n{answer}\n")
    clone.set_up(STEPTIME_TENSORFLOW="")

    assert clone.installs()[0].endswith(f".[{chosen}]")


def test_a_dry_run_tells_the_choice_and_makes_nothing(clone: Clone) -> None:
    done = clone.set_up("--dry-run", STEPTIME_TENSORFLOW="gpu")

    assert "tensorflow: gpu (as asked)" in done.stdout
    assert not (clone.path / ".venv").exists()


def test_the_interpreter_itself_is_used_not_the_environment_that_may_be_removed(clone: Clone) -> None:
    done = clone.set_up("--dry-run", STEPTIME_PYTHON=sys.executable)

    (used,) = [line for line in done.stdout.splitlines() if line.startswith("python: ")]
    assert Path(used.removeprefix("python: ")).resolve() == Path(sys.executable).resolve()
    assert sys.prefix == sys.base_prefix or sys.prefix not in used


@pytest.mark.parametrize(
    ("answer", "hint"), [("is Python 3.9", "STEPTIME_PYTHON=/path"), ("lacks venv", "python3-venv")]
)
def test_an_unsuitable_python_is_named_with_what_to_do(clone: Clone, answer: str, hint: str) -> None:
    clone.command("old", f"#!/bin/sh\necho '{answer}' >&2\nexit 1\n")
    done = clone.run(STEPTIME_PYTHON="old")

    assert done.returncode == 1
    assert done.stderr.startswith(
        f"error: expected Python 3.11, 3.12 or 3.13 with venv, found old {answer}\n"
    )
    assert hint in done.stderr
    assert not (clone.path / ".venv").exists()


def test_unsuitable_pythons_are_passed_over(clone: Clone) -> None:
    clone.command("python3.13", PYTHON)
    clone.command("python3", "#!/bin/sh\necho 'is Python 3.9' >&2\nexit 1\n")
    done = clone.set_up("--dry-run")

    assert f"python: {clone.bin}/python3.13" in done.stdout


def test_the_mirror_that_pip_uses_is_used(clone: Clone) -> None:
    clone.set_up(PIP_INDEX_URL="file:///mirror")

    assert clone.installs()[0].startswith("index=file:///mirror ")


@pytest.mark.parametrize(("args", "value"), [(("--everything",), "cpu"), ((), "tpu")])
def test_wrong_use_ends_with_exit_code_2(clone: Clone, args: tuple[str, ...], value: str) -> None:
    done = clone.run(*args, STEPTIME_TENSORFLOW=value)

    assert done.returncode == 2
    assert [line.split(":")[0] for line in done.stderr.splitlines()] == ["error", "hint"]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_each_script_is_executable_plain_shell(script: Path) -> None:
    assert os.access(script, os.X_OK)
    assert script.read_text().startswith("#!/bin/sh\n")
    for shell in filter(shutil.which, ("sh", "dash")):
        subprocess.run([shell, "-n", script], check=True)
