"""What a profile says when all is measured: the page, and the answer as text, JSON or Markdown."""

import argparse
import json
from pathlib import Path

import pytest

from steptime.analysis.anatomy import Anatomy, Part, Span
from steptime.cli.profiling import add_arguments, check, finish
from steptime.errors import UsageError
from steptime.testing import make_ceilings, make_operations, make_profile, make_run

pytestmark = pytest.mark.slow


def span(value: float) -> Span:
    return Span(value=value, low=value, high=value)


ANATOMY = Anatomy(
    bound="compute",
    why="It computes.",
    step_s=span(0.010),
    parts=(
        Part(kind="launch", resource="host", step_s=span(0.002), share=0.2, how=""),
        Part(kind="compute", resource="compute", step_s=span(0.008), share=0.8, how=""),
    ),
    shares={"input": 0.0, "host": 0.2, "compute": 0.8, "memory": 0.0},
    missing={},
)


def parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--script")
    add_arguments(parser)
    return parser.parse_args(words)


def finished(folder: Path, *words: str) -> int:
    return finish(
        parse(*words), folder, make_run(), make_profile(), make_operations(), make_ceilings(), ANATOMY
    )


def test_the_answer_is_printed_and_the_page_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert finished(tmp_path) == 0

    shown = capsys.readouterr()
    assert shown.out.startswith("A step takes 10.0 ms, and it computes for 80.0 % of that")
    assert f"report: {tmp_path / 'report.html'}" in shown.err
    assert (tmp_path / "plots" / "step-anatomy.png").is_file()


def test_json_is_all_there_is_on_stdout_and_has_the_promised_keys(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    finished(tmp_path, "--json")
    answer = json.loads(capsys.readouterr().out)

    assert answer["bound"] == "compute"
    assert answer["shares"] == dict(ANATOMY.shares)
    assert {"kind", "saves_at_most_s", "remedy"} <= set(answer["findings"][0])
    assert {"lines", "patch", "changes_results"} == set(answer["findings"][0]["remedy"])
    assert answer["profile"]["timings"]["as_is"]["step_s"]


def test_markdown_can_be_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    finished(tmp_path, "--markdown")

    assert capsys.readouterr().out.startswith("## A step takes")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--time-budget", "60"), "belongs to --try"),
        (("--try", "--script", "train.py"), "needs a workload"),
        (("--try", "--time-budget", "0"), "positive"),
        (("--try", "--time-budget", "nan"), "positive"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_measured(
    words: tuple[str, ...], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        check(parse(*words))
