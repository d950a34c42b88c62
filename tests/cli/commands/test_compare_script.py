"""``steptime compare --script``: what is planned, with a launcher that needs no process."""

from pathlib import Path

import pytest

from steptime.cli.main import main
from steptime.record.study import read_study
from steptime.testing import FakeLauncher, make_run

ARMS = ("--arm", "cpu,loop=keras", "--arm", "cpu", "--repeats", "2")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STEPTIME_RUNS", raising=False)
    monkeypatch.setattr("steptime.report.charts.draw.svg", lambda chart: "<svg></svg>")
    monkeypatch.setattr("steptime.report.charts.draw.write_png", lambda chart, folder: None)
    monkeypatch.setattr("steptime.cli.options.check_tensorflow", lambda: None)
    (tmp_path / "train.py").write_text("print('never run here')\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def launcher(monkeypatch: pytest.MonkeyPatch) -> FakeLauncher:
    runs = [make_run(step_s=step_s, seed=seed) for seed, step_s in enumerate((0.02, 0.01, 0.01, 0.02))]
    found = FakeLauncher(*runs)
    monkeypatch.setattr("steptime.launch.process.ProcessLauncher", lambda: found)
    return found


def test_a_script_is_trained_in_turns_with_its_own_arguments(
    here: Path, launcher: FakeLauncher, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["compare", "--script", "train.py --epochs 2 'my data'", *ARMS])

    assert code == 0, capsys.readouterr().err
    assert {plan.workload.kind for plan in launcher.plans} == {"script"}
    assert launcher.plans[0].workload.arguments == ("--epochs", "2", "my data")
    assert [plan.settings.loop for plan in launcher.plans] == ["keras", "auto", "auto", "keras"]
    assert capsys.readouterr().out.startswith("cpu is ")


def test_the_command_in_the_study_repeats_it(here: Path, launcher: FakeLauncher) -> None:
    (here / "steptime.toml").write_text("[settings]\nbatch_size = 7\nthreads = 1\n", encoding="utf-8")

    main(["compare", "--script", "train.py", *ARMS])

    (folder,) = (here / "runs").glob("compare-*")
    assert read_study(folder).command == (
        "steptime", "compare", "--script", "train.py", "--arm", "cpu,loop=keras", "--arm", "cpu",
        "--set", "threads=1", "--repeats", "2",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--script", "train.py", "mnist-cnn"], "--script must be the one thing"),
        (["--script", ""], "--script must be the one thing"),
        (["--script", "missing.py"], "must be a Python file"),
        (["--script", "train.py", "--arm", "cpu,batch_size=8", "--arm", "cpu"], "'batch_size'"),
        (["--script", "train.py", "--epochs", "3"], "'epochs'"),
        (["--script", "train.py", "--set", "seed=3"], "'seed'"),
    ],
)
def test_what_a_script_decides_itself_is_no_arm(
    here: Path, launcher: FakeLauncher, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(["compare", *words]) == 2

    assert message in capsys.readouterr().err
    assert launcher.plans == []
