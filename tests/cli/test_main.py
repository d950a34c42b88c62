"""The table of commands, exit codes, and errors in one line each."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import steptime
from steptime.cli import main as cli
from steptime.errors import DeviceError, RunError

LOOK = "hint: Look at its path, owner and disk.\n"


def test_each_command_module_is_in_the_table_and_has_both_functions() -> None:
    from steptime.cli import commands

    files = {path.stem for path in Path(commands.__path__[0]).glob("*.py")} - {"__init__"}

    assert files == {module.rpartition(".")[2] for module, _ in cli.COMMANDS.values()}
    for module, _ in cli.COMMANDS.values():
        assert callable(import_module(module).add_arguments)
        assert callable(import_module(module).run)


@pytest.mark.parametrize("command", [[], *[[name] for name in cli.COMMANDS]])
def test_help_goes_to_stdout_and_ends_well(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main([*command, "--help"])

    assert caught.value.code == 0
    assert capsys.readouterr().out.startswith("usage: steptime")


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["--version"])

    assert capsys.readouterr().out == f"steptime {steptime.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "error", "prog"),
    [
        ([], "steptime: the following arguments are required: COMMAND", "steptime"),
        (["trian"], "steptime: argument COMMAND: invalid choice: 'trian'", "steptime"),
        (["runs", "--rums", "x"], "steptime runs: unrecognized arguments: --rums x", "steptime runs"),
        (["runs", "--run", "x"], "steptime runs: unrecognized arguments: --run x", "steptime runs"),
        (["show"], "steptime show: the following arguments are required: RUN", "steptime show"),
        (
            ["board", "--port", "x"],
            "steptime board: argument --port: invalid int value: 'x'",
            "steptime board",
        ),
        (["train", "--epochs"], "steptime train: argument --epochs: expected one argument", "steptime train"),
    ],
)
def test_wrong_flags_are_one_error_line_and_one_hint_line(
    steptime: Any, arguments: list[str], error: str, prog: str
) -> None:
    code, out, err = steptime(*arguments)
    first, second = err.splitlines()

    assert (code, out) == (2, "")
    assert first.startswith(f"error: {error}")
    assert second == f"hint: `{prog} --help` lists what can be said."


def answering(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Let the command ``settings`` end with an error."""

    def run(options: object) -> int:
        raise error

    monkeypatch.setattr("steptime.cli.commands.settings.run", run)


@pytest.mark.parametrize(
    ("error", "code", "err"),
    [
        (DeviceError("no\n GPU \x1b[31m", hint="buy\tone"), 2, "error: no GPU  [31m\nhint: buy one\n"),
        (RunError("it failed", hint="try again"), 3, "error: it failed\nhint: try again\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (
            PermissionError(13, "Permission denied", "runs"),
            2,
            f"error: A file must be usable. Received: [Errno 13] Permission denied: 'runs'\n{LOOK}",
        ),
    ],
)
def test_errors_become_lines_and_exit_codes(
    steptime: Any, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, err: str
) -> None:
    answering(monkeypatch, error)

    assert steptime("settings") == (code, "", err)


def test_the_package_can_be_started_as_a_module_and_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "steptime", "settings"], cwd=tmp_path, stdout=writer, stderr=subprocess.PIPE
    )
    os.close(writer)

    assert (done.returncode, done.stderr) == (0, b"")
