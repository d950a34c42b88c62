"""``steptime profile``: jobs that are taken apart, and records that are explained."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from steptime.record.ceilings import CEILINGS_FILE, write_ceilings
from steptime.record.operations import write_operations
from steptime.record.profile import write_profile
from steptime.record.store import create_run_folder, write_record
from steptime.testing import make_ceilings, make_operations, make_plan, make_profile, make_record

PLANTED = Path(__file__).parents[3] / "benchmarks" / "planted"


def run_folder(runs: Path, *, is_profiled: bool = True) -> Path:
    plan = make_plan(epochs=2)
    folder = create_run_folder(runs, "profile", plan)
    write_record(folder, dataclasses.replace(make_record(plan), run_id=folder.name))
    if is_profiled:
        write_profile(folder, make_profile())
        write_operations(folder, make_operations())
        write_ceilings(folder / CEILINGS_FILE, make_ceilings())
    return folder


def test_a_profile_that_exists_is_explained_again_without_tensorflow(steptime, here: Path) -> None:
    folder = run_folder(here / "runs")
    answer = steptime("profile", "last")

    assert answer.code == 0
    assert answer.out.startswith("A step takes 10.2 ms, and it computes for")
    assert (folder / "report.html").is_file()
    assert len(answer.out.splitlines()) <= 40


def test_the_answer_as_json_has_what_is_promised(steptime, here: Path) -> None:
    run_folder(here / "runs")
    answer = json.loads(steptime("profile", "last", "--json").out)

    assert answer["bound"] == "compute"
    assert set(answer["shares"]) == {"input", "host", "compute", "memory"}
    assert sum(answer["shares"].values()) == pytest.approx(1.0, abs=0.03)
    assert [finding["kind"] for finding in answer["findings"]] == ["unfused-optimizer"]


def test_a_run_that_was_only_trained_is_explained_as_far_as_its_record_goes(steptime, here: Path) -> None:
    run_folder(here / "runs", is_profiled=False)
    answer = steptime("profile", "last")

    assert answer.code == 0
    assert "A step takes 10.7 ms" in answer.out
    assert "`steptime profile mnist-cnn` measures it" in answer.out


@pytest.mark.parametrize(
    "words",
    [
        ("no_such_job",),
        ("no_such_job.py",),
        ("--set", "loop=warp"),
        ("--time-budget", "10"),
        ("--try", "--time-budget", "-1"),
        ("--json", "--markdown"),
        ("--device", "gpu:99"),
        ("last", "mnist-cnn"),
        ("--epochs", "0"),
        ("--time-limit", "0"),
    ],
)
def test_wrong_use_is_said_in_a_line_with_a_hint(steptime, words: tuple[str, ...]) -> None:
    answer = steptime("profile", *words)

    assert answer.code == 2
    assert answer.err.splitlines()[-2].startswith("error: ")
    assert answer.err.splitlines()[-1].startswith("hint: ")
    assert answer.out == ""


def profile(folder: Path, *words: str, planted: bool = True) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "steptime", "profile", *words, "--device", "cpu"],
        cwd=folder,
        env={**os.environ, "STEPTIME_PLANTED": str(int(planted)), "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.tensorflow
def test_the_built_in_job_is_taken_apart_and_the_page_says_what_would_help(tmp_path: Path) -> None:
    done = profile(tmp_path)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("A step takes ")
    assert len(done.stdout.splitlines()) <= 40
    (page,) = tmp_path.glob("runs/*/*/report.html")
    html = page.read_text(encoding="utf-8")
    assert all(f'id="{name}"' in html for name in ("step-anatomy", "roofline", "timeline", "utilisation"))


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("job", "kind"), [("sleeping_callback", "callback-share"), ("python_generator", "python-generator")]
)
def test_what_was_planted_is_the_first_finding(tmp_path: Path, job: str, kind: str) -> None:
    done = profile(tmp_path, str(PLANTED / f"{job}.py"), "--json")

    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["findings"][0]["kind"] == kind
    assert 0 < answer["findings"][0]["saves_share"] <= 1
