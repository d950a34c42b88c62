"""What ``steptime run`` accepts, and what it hands to the launcher."""

from pathlib import Path
from typing import Any

import pytest

from steptime.cli.main import main
from steptime.plan.plan import Plan
from steptime.record.schema import Outcome, RunRecord
from steptime.testing import FakeLauncher, make_record


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STEPTIME_RUNS", raising=False)
    (tmp_path / "train.py").write_text("print('never run here')\n", encoding="utf-8")
    return tmp_path


def launched(monkeypatch: pytest.MonkeyPatch, record: RunRecord | None = None) -> list[Plan]:
    launcher = FakeLauncher(record or make_record())
    monkeypatch.setattr("steptime.launch.script.ScriptLauncher", lambda **_: launcher)
    monkeypatch.setattr("steptime.cli.scripts.machine_findings", lambda: ())
    return launcher.plans


def test_options_before_the_script_are_ours_and_those_after_it_are_its_own(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans = launched(monkeypatch)

    code = main(
        [
            "run",
            "--device",
            "cpu",
            "--loop",
            "keras",
            "--set",
            "threads=1",
            "train.py",
            "--device",
            "gpu",
            "-h",
        ]
    )

    (plan,) = plans
    assert code == 0
    assert plan.workload.arguments == ("--device", "gpu", "-h")
    assert (plan.settings.device, plan.settings.loop, plan.settings.threads) == ("cpu", "keras", 1)
    assert plan.placement is not None
    assert plan.placement.device == "cpu"


@pytest.mark.parametrize(
    "words",
    [
        ("--", "a", "b"),
        ("a", "--", "b"),
        ("--",),
        ("--", "--"),
        ("train.py", "--"),
        ("--name", "x", "--"),
        (),
    ],
)
@pytest.mark.parametrize("options", [(), ("--name", "train.py")])
def test_every_word_behind_the_script_is_its_own(
    here: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], words: tuple[str, ...]
) -> None:
    plans = launched(monkeypatch)

    main(["run", *options, "train.py", *words])

    assert plans[0].workload.arguments == words


def test_a_projects_file_may_be_about_workloads_as_well(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plans = launched(monkeypatch)
    (here / "steptime.toml").write_text("[settings]\nbatch_size = 7\nloop = 'graph'\n", encoding="utf-8")

    main(["run", "train.py"])

    assert (plans[0].settings.batch_size, plans[0].settings.loop) == (32, "graph")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run"], "SCRIPT"),
        (["run", "tarin.py"], "must be a Python file or a notebook that exists"),
        (["run", "--epochs", "3", "train.py"], "--epochs"),
        (["run", "--epochs", "3", "train.py"], "hint: The script's own arguments follow its name"),
        (["run", "--set", "epochs=3", "train.py"], "'epochs'"),
        (["run", "--set", "no_such=3", "train.py"], "no_such"),
        (["run", "--set", "threads=0", "train.py"], "threads"),
        (["run", "--loop", "fast", "train.py"], "loop must be one of"),
        (["run", "--device", "gpu:x", "train.py"], "device must be"),
        (["run", "--name", "../up", "train.py"], "name must be"),
        (["run", "--set", "threads", "train.py"], "KEY=VALUE"),
    ],
)
def test_wrong_use_is_told_before_anything_runs(
    here: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(words) == 2

    err = capsys.readouterr().err
    assert message in err
    assert "hint: " in err
    assert not (here / "runs").exists()


def test_the_exit_code_is_the_scripts_and_the_report_is_named(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = Outcome(
        status="failed", phase="script", reason="ValueError: boom (train.py, line 1)", exit_code=1
    )
    launched(monkeypatch, make_record(outcome=outcome))

    assert main(["run", "train.py"]) == 1

    shown: Any = capsys.readouterr()
    assert shown.out == ""
    assert "ValueError: boom" in shown.err
    (page,) = here.glob("runs/run-*/report.html")
    assert shown.err.rstrip().endswith(f"report: {page.relative_to(here)}")


@pytest.mark.parametrize(
    "fails",
    [
        "steptime.cli.scripts.machine_findings",
        "steptime.cli.scripts.script_summary",
        "steptime.cli.output.say",
    ],
)
def test_what_fails_at_the_end_changes_no_exit_code(
    here: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    def fail(*_: object) -> None:
        raise BrokenPipeError if fails.endswith("say") else RuntimeError("a fault of ours")

    launched(monkeypatch, make_record(outcome=Outcome(status="failed", phase="script", exit_code=7)))
    monkeypatch.setattr(fails, fail)

    assert main(["run", "train.py"]) == 7


def test_what_steptime_could_not_do_ends_in_a_hint(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = Outcome(status="failed", phase="script", reason="no GPU", hint="ask the doctor", exit_code=2)
    launched(monkeypatch, make_record(outcome=outcome))

    assert main(["run", "train.py"]) == 2

    assert capsys.readouterr().err.splitlines()[-2:] == ["error: no GPU", "hint: ask the doctor"]
