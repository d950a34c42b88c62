"""How often the doctor is right on reports, reworded.

``cases`` are public reports; ``unseen`` are others, collected after the rules were written; ``stated`` are facts in a
person's words beside a line that many kinds share; ``healthy`` are logs without a fault.
"""

import json
from pathlib import Path

import pytest

from steptime.diagnosis.environment import diagnose
from steptime.diagnosis.rule import Diagnosis
from steptime.environment.log import read_log
from steptime.environment.told import read_told

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[2] / "data/doctor"


def cases(name: str) -> list[dict]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def diagnosis_of(case: dict, change=lambda log: log) -> Diagnosis:
    lines = read_log(change(case["log"]).encode())
    return diagnose(read_told(lines, [f"{key}={value}" for key, value in case["facts"].items()]), lines)


def hits(case: dict, diagnosis: Diagnosis) -> tuple[bool, bool]:
    """Whether the case's kind is the first finding, and whether it is among the first two."""
    kinds = [finding.kind for finding in diagnosis.findings]
    if case["kind"].startswith("harmless"):
        right = not kinds and case["kind"] in {line["kind"] for line in diagnosis.harmless}
        return right, right
    return kinds[:1] == [case["kind"]], case["kind"] in kinds[:2]


def score(name: str) -> tuple[float, float]:
    results = [hits(case, diagnosis_of(case)) for case in cases(name)]
    first, two = zip(*results, strict=True)
    return sum(first) / len(first), sum(two) / len(two)


@pytest.mark.parametrize("name", ["cases", "unseen", "stated"])
def test_the_first_finding_is_right_in_nine_of_ten_reports_and_the_first_two_in_97_of_100(name):
    first, two = score(name)
    assert first >= 0.90
    assert two >= 0.97


@pytest.mark.parametrize("name", ["cases", "unseen", "stated"])
def test_no_harmless_report_is_called_a_fault(name):
    for case in cases(name):
        if case["kind"].startswith("harmless"):
            assert not diagnosis_of(case).findings, case["log"]


@pytest.mark.parametrize(
    "facts", [[], ["platform=linux", "gpu=RTX 4090", "tensorflow=2.21"], ["platform=docker", "gpu=A100"]]
)
def test_a_healthy_log_has_no_finding(facts):
    for case in cases("healthy"):
        lines = read_log(case["log"].encode())
        stated = facts or [f"{key}={value}" for key, value in case["facts"].items()]
        assert not diagnose(read_told(lines, stated), lines).findings, case["log"]


SHAPES = {
    "Windows line ends": lambda log: log.replace("\n", "\r\n"),
    "colours": lambda log: "\n".join(f"\x1b[31m{line}\x1b[0m" for line in log.split("\n")),
    "container names": lambda log: "\n".join(
        f"trainer-1  | {line}" if line else "" for line in log.split("\n")
    ),
    "wrapped at 80": lambda log: "\n".join(
        line[at : at + 80] for line in log.split("\n") for at in range(0, max(1, len(line)), 80)
    ),
    "indented in a traceback": lambda log: (
        "Traceback (most recent call last):\n" + "\n".join(f"    {line}" for line in log.split("\n"))
    ),
    "foreign lines around": lambda log: "Оболочка запущена\n训练开始\n" + log + "\nEpoch 1/5\n始めます\n",
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_shape_of_a_log_does_not_change_the_first_finding(shape):
    for case in cases("cases")[::3]:
        plain, shaped = diagnosis_of(case), diagnosis_of(case, shape)
        assert [f.kind for f in shaped.findings][:1] == [f.kind for f in plain.findings][:1], case["log"]
