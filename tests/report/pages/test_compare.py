"""The page of a comparison and its summary."""

import dataclasses
from pathlib import Path

import pytest

from steptime.analysis.interval import Interval
from steptime.report.document import Bars, Chart, Curves, Document, Heading, Stacks, Table, Text
from steptime.report.pages.compare import compare_page, compare_summary
from steptime.report.render.markdown import render_markdown
from steptime.report.render.text import render_text

GOLDEN = Path(__file__).parents[2] / "golden"


def texts(document: Document) -> str:
    return render_text(document, 10_000)


def charts(document: Document) -> dict[str, Chart]:
    return {part.name: part for part in document.parts if isinstance(part, Chart)}


@pytest.mark.parametrize("name", ["compare_summary.txt", "compare_summary.md", "compare_page.txt"])
def test_the_page_is_the_golden_one(compared, name: str) -> None:
    summary = compare_summary(compared.comparison, compared.study)
    made = {
        "compare_summary.txt": render_text(summary, 100),
        "compare_summary.md": render_markdown(summary),
        "compare_page.txt": render_text(
            compare_page(compared.comparison, compared.study, compared.runs), 100
        ),
    }

    assert made[name] + "\n" == (GOLDEN / name).read_text(encoding="utf-8")


def test_the_answer_is_the_title(compared) -> None:
    title = compare_page(compared.comparison, compared.study, compared.runs).title

    assert title.startswith("cpu is 1.8")
    assert "as fast as cpu loop=keras" in title
    assert title.endswith("and it trained equally well.")


def test_a_failed_arm_stands_in_the_table_and_in_a_sentence(compared) -> None:
    text = texts(compare_summary(compared.comparison, compared.study))

    assert (
        "cpu batch_size=60000 has no result: it failed in phase train: out of memory: 2 GiB wanted." in text
    )
    (table,) = (
        part for part in compare_summary(compared.comparison, compared.study).parts if isinstance(part, Table)
    )
    assert table.rows[2][0] == "cpu batch_size=60000"
    assert table.rows[2][-1] == "failed"


def test_without_a_gpu_the_reason_and_the_next_command_are_one_line(compared) -> None:
    document = compare_summary(compared.comparison, compared.study)
    (line,) = (part.text for part in document.parts if isinstance(part, Text) and "GPU" in part.text)

    assert "/proc/driver/nvidia/version is missing" in line
    assert "`steptime doctor`" in line


def test_a_target_that_was_not_reached_is_shown_as_such(compared) -> None:
    facts = compared.comparison.arms[1]
    missed = dataclasses.replace(
        facts.quantities["target_s"], value=None, reason="not reached in 2 epochs", ratio=None
    )
    facts = dataclasses.replace(facts, quantities={**facts.quantities, "target_s": missed})
    comparison = dataclasses.replace(compared.comparison, arms=(compared.comparison.arms[0], facts))

    assert "not reached in 2 epochs" in texts(compare_summary(comparison, compared.study))


def test_the_page_has_all_its_sections(compared) -> None:
    document = compare_page(compared.comparison, compared.study, compared.runs)

    assert [part.text for part in document.parts if isinstance(part, Heading)] == [
        "At a glance",
        "How fast it learned",
        "Every quantity",
        "Step times",
        "What the devices did",
        "Where it ran",
        "Environment",
        "How it was measured",
        "Not measured",
        "Repeat it",
    ]
    assert set(charts(document)) == {
        "time-per-epoch",
        "where-the-time-went",
        "loss-over-time",
        "accuracy-over-time",
        "step-times",
        "cpu-utilisation",
        "cpu-memory",
    }


def test_an_arm_has_one_colour_in_all_charts(compared) -> None:
    plots = [
        chart.plot
        for chart in charts(compare_page(compared.comparison, compared.study, compared.runs)).values()
    ]
    colours: dict[str, set[int]] = {}
    for plot in plots:
        if isinstance(plot, Curves):
            for series in plot.series:
                colours.setdefault(series.name, set()).add(series.colour)
        elif isinstance(plot, Bars):
            for label, colour in zip(plot.labels, plot.colours, strict=True):
                colours.setdefault(label, set()).add(colour)

    assert colours["cpu"] == {1}
    assert colours["cpu loop=keras"] == {0}


def test_the_parts_of_the_time_add_up_to_what_is_written_beside_them(compared) -> None:
    plot = charts(compare_page(compared.comparison, compared.study, compared.runs))[
        "where-the-time-went"
    ].plot
    assert isinstance(plot, Stacks)

    total_s = sum(lengths[0] for _, lengths in plot.parts)

    assert plot.texts[0] == f"{total_s:.1f} s"


def test_long_series_are_thinned_for_the_page(compared) -> None:
    plots = [
        chart.plot
        for chart in charts(compare_page(compared.comparison, compared.study, compared.runs)).values()
    ]

    assert max(len(series.x) for plot in plots if isinstance(plot, Curves) for series in plot.series) <= 120


def test_an_interval_that_says_nothing_is_not_drawn(compared) -> None:
    facts = compared.comparison.arms[0]
    estimate = facts.quantities["epoch_s"]
    wide = Interval(value=20.0, low=1e-4, high=1e6, confidence=0.95, is_assumed=False)
    facts = dataclasses.replace(
        facts, quantities={**facts.quantities, "epoch_s": dataclasses.replace(estimate, value=wide)}
    )
    comparison = dataclasses.replace(compared.comparison, arms=(facts, compared.comparison.arms[1]))
    document = compare_page(comparison, compared.study, compared.runs)
    plot = charts(document)["time-per-epoch"].plot

    assert isinstance(plot, Bars)
    assert plot.highs[0] == plot.values[0] == 20.0
    assert "too few runs for an interval" in texts(document)


def test_where_devices_differ_the_share_of_a_perfect_speed_up_is_shown(compared) -> None:
    slow, fast, *rest = compared.comparison.arms
    share = Interval(value=0.94, low=0.9, high=0.98, confidence=0.95, is_assumed=False)
    comparison = dataclasses.replace(
        compared.comparison, arms=(slow, dataclasses.replace(fast, replicas=2, efficiency=share), *rest)
    )
    text = texts(compare_summary(comparison, compared.study))

    assert "of a perfect speed-up" in text
    assert "94.0 % (90.0 % to 98.0 %)" in text
    assert "CPU devices may share one processor" in text
    assert "of a perfect speed-up" not in texts(compare_summary(compared.comparison, compared.study))
