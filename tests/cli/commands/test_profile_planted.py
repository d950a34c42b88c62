"""``steptime profile`` on real jobs: the built-in one, and some that are slowed in a known way."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.tensorflow

PLANTED = Path(__file__).parents[3] / "benchmarks" / "planted"


def profile(folder: Path, *words: str, planted: bool = True) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "steptime", "profile", *words, "--device", "cpu"],
        cwd=folder,
        env={**os.environ, "STEPTIME_PLANTED": "1" if planted else "0", "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_the_built_in_job_is_taken_apart_and_the_page_says_what_would_help(tmp_path: Path) -> None:
    done = profile(tmp_path)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("A step takes ")
    assert len(done.stdout.splitlines()) <= 40
    (page,) = tmp_path.glob("runs/*/*/report.html")
    html = page.read_text(encoding="utf-8")
    assert all(f'id="{name}"' in html for name in ("step-anatomy", "roofline", "timeline", "utilisation"))


@pytest.mark.parametrize(
    ("job", "kind"), [("sleeping_callback", "callback-share"), ("sleeping_map", "map-sequential")]
)
def test_what_was_planted_is_the_first_finding(tmp_path: Path, job: str, kind: str) -> None:
    done = profile(tmp_path, str(PLANTED / f"{job}.py"), "--json")

    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["findings"][0]["kind"] == kind
    assert 0 < answer["findings"][0]["saves_share"] <= 1


@pytest.mark.parametrize(("job", "kind"), [("sleeping_callback", "callback-share")])
def test_what_was_not_planted_is_no_finding(tmp_path: Path, job: str, kind: str) -> None:
    done = profile(tmp_path, str(PLANTED / f"{job}.py"), "--json", planted=False)

    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["anatomy"]["step_s"] is not None
    assert kind not in {finding["kind"] for finding in answer["findings"]}
