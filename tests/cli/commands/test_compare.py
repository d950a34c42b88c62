"""``steptime compare`` from its words to its files, with a launcher that needs no process."""

import csv
import io
import json
from pathlib import Path

import pytest

from steptime.cli.main import main
from steptime.device.device import DeviceFacts
from steptime.device.find import FoundGpu, GpuSearch
from steptime.record.schema import Outcome, RunRecord
from steptime.record.store import create_run_folder
from steptime.record.study import read_study
from steptime.testing import FakeLauncher, make_plan, make_record, make_run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STEPTIME_RUNS", raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("CI", "true")
    return tmp_path


@pytest.fixture(autouse=True)
def no_pictures(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing takes seconds; one test looks at what is drawn."""
    if "pictures" not in request.node.name:
        monkeypatch.setattr("steptime.report.charts.draw.svg", lambda chart: "<svg></svg>")
        monkeypatch.setattr("steptime.report.charts.draw.write_png", lambda chart, folder: None)


def launching(monkeypatch: pytest.MonkeyPatch, *answers: object) -> FakeLauncher:
    launcher = FakeLauncher(*answers)
    monkeypatch.setattr("steptime.launch.process.ProcessLauncher", lambda: launcher)
    monkeypatch.setattr("steptime.cli.options.check_tensorflow", lambda: None)
    return launcher


def pair(slow_s: float = 0.02, fast_s: float = 0.01) -> list:
    """Runs in the order A B B A."""
    return [
        make_run(step_s=step_s, seed=seed) for seed, step_s in enumerate((slow_s, fast_s, fast_s, slow_s))
    ]


def stored(
    here: Path, repeat: int = 0, step_s: float = 0.01, record: RunRecord | None = None, **settings: object
) -> str:
    plan = make_plan(epochs=2, seed=repeat, **settings)
    folder = create_run_folder(here / "runs", "train", plan)
    FakeLauncher(make_run(record, step_s=step_s, seed=repeat)).launch(plan, folder, lambda event: None)
    return folder.name


def study_of(here: Path) -> Path:
    (folder,) = (here / "runs").glob("compare-*")
    return folder


ARMS = ("--arm", "cpu,loop=keras", "--arm", "cpu")


def test_it_trains_in_turns_and_prints_the_answer(here, monkeypatch, capsys) -> None:
    launcher = launching(monkeypatch, *pair())

    code = main(["compare", *ARMS, "--repeats", "2", "--epochs", "2", "--target", "accuracy=0.97"])

    out, err = capsys.readouterr()
    assert code == 0
    assert out.startswith(
        ("cpu is 2 times as fast as cpu loop=keras", "cpu is 1.99 times", "cpu is 2.01 times")
    )
    assert "faster" in out
    assert err.splitlines()[-1] == f"report: {study_of(here).relative_to(here)}/report.html"
    assert [plan.settings.loop for plan in launcher.plans] == ["keras", "auto", "auto", "keras"]


@pytest.mark.slow
def test_it_leaves_a_page_pictures_and_a_description(here, monkeypatch) -> None:
    launching(monkeypatch, *pair())

    main(["compare", *ARMS, "--repeats", "2"])

    folder = study_of(here)
    assert (folder / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (folder / "plots" / "time-per-epoch.png").exists()
    assert read_study(folder).stop == "every arm was run 2 times"
    assert len(list(folder.glob("*/run.json"))) == 4


def test_without_a_gpu_the_default_arms_are_two_loops_on_the_cpu_and_the_page_says_why(
    here, monkeypatch, capsys
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    launcher = launching(monkeypatch, *pair())

    main(["compare", "mnist-mlp", "--repeats", "2"])

    assert [plan.settings.loop for plan in launcher.plans[:2]] == ["keras", "auto"]
    assert {plan.settings.epochs for plan in launcher.plans} == {1}
    out = capsys.readouterr().out
    assert "No GPU was compared." in out
    assert "steptime doctor" in " ".join(out.split())


def test_with_a_gpu_both_loops_run_on_it_too_and_see_nothing_else(here, monkeypatch, capsys) -> None:
    facts = DeviceFacts(kind="gpu", index=0, name="A card", uuid="GPU-1234")
    card = FoundGpu(name="gpu0", facts=facts, usable=True, why_not=None, cuda_index=0, visible_as="GPU-1234")
    monkeypatch.setattr("steptime.cli.comparing.find_gpus", lambda: GpuSearch((card,), None, None))
    monkeypatch.setattr("steptime.cli.comparing.cpu_only_build", lambda: None)
    launcher = launching(monkeypatch, *(make_run(seed=seed) for seed in range(8)))

    main(["compare", "--repeats", "2"])

    plans = launcher.plans[:4]
    assert [(plan.placement.device, plan.settings.loop) for plan in plans if plan.placement] == [
        ("cpu", "keras"), ("cpu", "auto"), ("gpu:0", "keras"), ("gpu:0", "auto"),
    ]  # fmt: skip
    assert [plan.placement.visible_devices for plan in plans if plan.placement] == [
        "-1",
        "-1",
        "GPU-1234",
        "GPU-1234",
    ]
    assert "No GPU was compared" not in capsys.readouterr().out


def test_the_command_that_repeats_it_says_everything(here, monkeypatch) -> None:
    launching(monkeypatch, *pair())

    main(["compare", "mnist-mlp", *ARMS, "--repeats", "2", "--batch-size", "64", "--baseline", "cpu"])

    assert list(read_study(study_of(here)).command) == [
        "steptime", "compare", "mnist-mlp", "--arm", "cpu,loop=keras", "--arm", "cpu", "--set", "batch_size=64",
        "--set", "epochs=1", "--baseline", "cpu", "--repeats", "2",
    ]  # fmt: skip


def test_json_is_the_whole_answer_and_nothing_else(here, monkeypatch, capsys) -> None:
    launching(monkeypatch, *pair())

    main(["compare", *ARMS, "--repeats", "2", "--json"])

    answer = json.loads(capsys.readouterr().out)
    arms = answer["comparison"]["arms"]
    assert arms[1]["verdict"]["kind"] == "faster"
    assert arms[1]["verdict"]["time_ratio"]["value"] == pytest.approx(0.5, rel=0.05)
    assert [run["arm"] for run in answer["study"]["runs"]] == [
        "cpu loop=keras",
        "cpu",
        "cpu",
        "cpu loop=keras",
    ]
    assert [record["outcome"]["status"] for record in answer["records"]] == ["ok"] * 4


def test_csv_and_markdown_are_printed_when_asked_for(here, monkeypatch, capsys) -> None:
    launching(monkeypatch, *pair())
    main(["compare", *ARMS, "--repeats", "2", "--csv"])
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["arm"] for row in rows} == {"cpu", "cpu loop=keras"}

    main(["compare", str(study_of(here)), "--markdown"])
    out = capsys.readouterr().out
    assert "| arm | time per epoch |" in out
    assert "### Environment" in out
    assert "steptime compare mnist-cnn --arm cpu,loop=keras" in out


def test_an_earlier_comparison_is_shown_again_without_running_anything(here, monkeypatch, capsys) -> None:
    launching(monkeypatch, *pair())
    main(["compare", *ARMS, "--repeats", "2"])
    first = capsys.readouterr().out

    assert main(["compare", study_of(here).name]) == 0
    assert capsys.readouterr().out == first


def test_an_earlier_comparison_can_be_looked_at_from_another_arm(here, monkeypatch, capsys) -> None:
    launching(monkeypatch, *pair())
    main(["compare", *ARMS, "--repeats", "2"])
    capsys.readouterr()

    main(["compare", study_of(here).name, "--baseline", "cpu", "--target", "accuracy=0.96"])

    out = capsys.readouterr().out
    assert out.startswith("cpu loop=keras takes")
    assert "time to target" in out


def test_runs_that_exist_cannot_be_given_new_arms(here, capsys) -> None:
    one, other = stored(here, name="one"), stored(here, name="other")

    assert main(["compare", one, other, "--arm", "cpu"]) == 2
    assert "--arm" in capsys.readouterr().err


def test_an_arm_that_fails_is_shown_and_the_exit_code_says_so(here, monkeypatch, capsys) -> None:
    lost = make_record(outcome=Outcome(status="failed", phase="train", reason="out of memory", exit_code=3))
    launching(monkeypatch, make_run(step_s=0.02), lost, make_run(step_s=0.02))

    code = main(["compare", *ARMS, "--repeats", "2"])

    assert code == 3
    assert "cpu has no result: it failed in phase train: out of memory." in " ".join(
        capsys.readouterr().out.split()
    )


def test_an_interrupted_comparison_keeps_what_there_is(here, monkeypatch, capsys) -> None:
    stopped = make_record(outcome=Outcome(status="interrupted", phase="train", exit_code=130))
    launching(monkeypatch, make_run(step_s=0.02), stopped)

    code = main(["compare", *ARMS])

    assert code == 130
    assert "it was interrupted" in " ".join(capsys.readouterr().out.split())
    assert (study_of(here) / "report.html").exists()


def test_runs_that_exist_are_compared_with_repeats_joined_by_commas(here, capsys) -> None:
    slow = [stored(here, repeat, 0.02, loop="keras", name="slow") for repeat in range(2)]
    fast = [stored(here, repeat, 0.01, loop="graph", name="fast") for repeat in range(2)]

    code = main(["compare", ",".join(slow), ",".join(fast)])

    assert code == 0
    assert capsys.readouterr().out.startswith("fast is 2")


def test_unlike_runs_are_refused_with_their_differences_first(here, capsys) -> None:
    one, other = stored(here, name="one"), stored(here, name="other", batch_size=64)

    code = main(["compare", one, other])

    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert code == 2
    assert out == ""
    assert lines[0] == "The runs differ in more than their arms say:"
    assert lines[2].split() == ["batch_size", "32", "64"]
    assert lines[-2].startswith("error: ")
    assert "--allow-different batch_size" in lines[-1]
    assert not list((here / "runs").glob("compare-*"))


def test_whoever_insists_gets_the_comparison_with_the_differences_in_it(here, capsys) -> None:
    one, other = stored(here, name="one"), stored(here, name="other", batch_size=64)

    assert main(["compare", one, other, "--allow-different", "batch_size"]) == 0
    page = (study_of(here) / "report.html").read_text(encoding="utf-8")
    assert "batch_size" in page
    assert "insisted" in page


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (["--arm", "cpu"], "two arms"),
        (["--arm", "cpu", "--arm", "warp"], "warp"),
        (["--repeats", "1"], "--repeats"),
        (["--time-budget", "0"], "--time-budget"),
        (["--target", "accuracy"], "--target"),
        ([*ARMS, "--baseline", "gpu"], "--baseline"),
        (["no-such-job"], "no-such-job"),
        (["no-run-a", "no-run-b"], "no-run-a"),
        ([",", ","], "The run must exist"),
        (["--arm", "cpu", "--arm", "gpu:7"], "gpu:7"),
    ],
)
def test_wrong_use_is_one_line_and_runs_nothing(
    here, monkeypatch, capsys, words: list[str], wrong: str
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    launcher = launching(monkeypatch)

    code = main(["compare", *words])

    err = capsys.readouterr().err
    assert code == 2
    assert err.startswith("error: ")
    assert wrong in err
    assert "hint: " in err
    assert launcher.plans == []
    assert not (here / "runs").exists()
