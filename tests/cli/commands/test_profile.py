"""``steptime profile``: what it takes up, what it refuses, and what it does with a run that exists."""

import json
from pathlib import Path

import pytest

from steptime.cli.main import main
from steptime.record.ceilings import CEILINGS_FILE, write_ceilings
from steptime.record.operations import write_operations
from steptime.record.profile import write_profile
from steptime.record.store import create_run_folder, write_record
from steptime.testing import make_ceilings, make_operations, make_plan, make_profile, make_record


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stored(here: Path, *, profiled: bool) -> Path:
    plan = make_plan()
    folder = create_run_folder(here / "runs", "train", plan)
    write_record(folder, make_record(plan, run_id=folder.name))
    if profiled:
        write_profile(folder, make_profile())
        write_operations(folder, make_operations())
        write_ceilings(folder / CEILINGS_FILE, make_ceilings())
    return folder


def answer(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    content: dict[str, object] = json.loads(capsys.readouterr().out)
    return content


@pytest.mark.slow
def test_a_profiled_run_is_explained_again_without_running_anything(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = stored(here, profiled=True)

    main(["profile", folder.name, "--json"])

    content = answer(capsys)
    assert content["bound"] == "compute"
    shares = content["shares"]
    assert isinstance(shares, dict)
    assert sum(shares.values()) == pytest.approx(1, abs=0.03)


def test_a_run_that_exists_keeps_the_ceilings_that_were_measured_beside_it(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = stored(here, profiled=True)

    assert main(["profile", folder.name, "--remeasure"]) == 2
    assert "--remeasure needs a job" in capsys.readouterr().err


def test_a_run_that_was_only_trained_says_what_is_missing_and_the_command_that_gets_it(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(here, profiled=False)

    main(["profile", "last", "--json"])

    content = answer(capsys)
    assert content["bound"] == "unknown"
    assert "`steptime profile mnist-cnn`" in json.dumps(content)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no-such-thing"], "The workload must be"),
        (["missing.py"], "missing.py"),
        (["empty"], "A folder must hold a run"),
        (["--script", "missing.py"], "must be a Python file or a notebook that exists"),
        (["mnist-cnn", "--script", "job.py"], "--script stands instead of a workload"),
        (["--device", "tpu"], "device must be"),
        (["--set", "batchsize=3"], "batch_size"),
        (["--set", "batch_size"], "KEY=VALUE"),
        (["--time-budget", "5"], "--time-budget"),
        (["--no-such-flag"], "unrecognized"),
    ],
)
def test_wrong_use_is_one_line_and_code_2(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    (here / "job.py").write_text("")
    (here / "empty").mkdir()

    assert main(["profile", *arguments]) == 2
    said = capsys.readouterr()
    assert words in said.err
    assert said.out == ""
    assert not (here / "runs").exists()


def test_a_damaged_profile_is_named(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = stored(here, profiled=True)
    (folder / "profile.json").write_text("{")

    assert main(["profile", str(folder)]) == 2
    assert "profile.json" in capsys.readouterr().err
