"""A real comparison, from the command to the page."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.tensorflow

POINTS = Path(__file__).parents[2] / "data" / "workloads" / "points.py"


def test_two_loops_are_compared_in_fresh_processes(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable, "-m", "steptime", "compare", str(POINTS),
            "--arm", "cpu,loop=keras", "--arm", "cpu,loop=graph",
            "--repeats", "2", "--epochs", "3", "--target", "loss=100", "--json",
        ],
        cwd=tmp_path, env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2", "CI": "true"}, capture_output=True, text=True,
        timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    slow, fast = answer["comparison"]["arms"]

    assert [run["arm"] for run in answer["study"]["runs"]] == [
        "cpu loop=keras", "cpu loop=graph", "cpu loop=graph", "cpu loop=keras",
    ]  # fmt: skip
    assert slow["statuses"] == fast["statuses"] == ["ok", "ok"]
    for arm in (slow, fast):
        assert arm["quantities"]["step_s"]["value"]["value"] > 0
        assert arm["quantities"]["target_s"]["value"]["value"] > 0
        assert arm["parts_s"]["importing TensorFlow"] > 0
        assert arm["parts_s"]["starting"] > 0
    assert fast["verdict"]["kind"] in ("faster", "slower", "same", "cannot tell")
    # On a CPU both loops compute the same function from the same seeds.
    assert fast["training"]["kind"] == "equal"
    assert answer["comparison"]["differences"] == []
    page = Path(tmp_path, answer["folder"], "report.html").read_text(encoding="utf-8")
    assert page.count("<svg ") >= 6
