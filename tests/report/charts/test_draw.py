"""Charts become SVG for pages and PNG files."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from steptime.report.charts.draw import svg, write_png
from steptime.report.document import Bars, Chart, Curves, Dot, Lanes, Roofline, Series, Stacks, Stretch

pytestmark = pytest.mark.slow

BARS = Bars(
    labels=("cpu", "gpu"), colours=(0, 3), values=(2.0, 1.0), lows=(1.8, 0.9), highs=(2.2, 1.1), texts=("2 s", "1 s"),
    x_title="seconds per epoch",
)  # fmt: skip
STACKS = Stacks(
    labels=("cpu",), parts=(("import", (2.0,)), ("training", (5.0,))), texts=("7 s",), x_title="seconds"
)
CURVES = Curves(
    series=(
        Series(
            name="cpu",
            colour=0,
            x=(0.0, 1.0, 2.0),
            y=(3.0, 2.0, 1.5),
            low=(2.0, 1.0, 1.0),
            high=(4.0, 3.0, 2.0),
        ),
        Series(name="", colour=0, x=(1.0,), y=(2.5,), is_marked=True),
    ),
    x_title="seconds",
    y_title="loss",
    is_log=True,
    level=2.0,
)


ROOFLINE = Roofline(
    dots=(
        Dot(name="Conv2D", colour=0, x=30.0, y=50.0, weight=0.9), Dot(name="Mul", colour=1, x=0.3, y=1.0, weight=0.0)
    ),
    roofs=(("float32", 80.0), ("bfloat16", 60.0)), slope=12.0, x_title="operations for each byte", y_title="rate",
)  # fmt: skip
LANES = Lanes(
    lanes=("thread 1", "thread 2"),
    groups=("convolution", "matmul"),
    stretches=(
        Stretch(lane=0, group=0, begin=0.0, length=3.0),
        Stretch(lane=1, group=0, begin=1.0, length=1.0),
    ),
    marks=(0.0, 5.0),
    x_title="ms",
)


@pytest.mark.parametrize("plot", [BARS, STACKS, CURVES, ROOFLINE, LANES])
def test_a_chart_is_one_svg_element_with_its_axes_titled(plot) -> None:
    text = svg(Chart(name="a-chart", title="A chart", text="", plot=plot))

    assert text.startswith("<svg ")
    assert text.rstrip().endswith("</svg>")
    assert f">{plot.x_title}</text>" in text
    assert "<metadata" not in text
    assert "DOCTYPE" not in text


def test_an_svg_fills_the_width_it_is_given() -> None:
    opening = svg(Chart(name="a", title="", text="", plot=BARS)).split(">", 1)[0]

    assert "viewBox=" in opening
    assert not re.search(r'\b(width|height)="', opening)


def test_two_charts_on_a_page_share_no_ids() -> None:
    one, other = (
        set(re.findall(r'\bid="([^"]+)"', svg(Chart(name=n, title="", text="", plot=CURVES)))) for n in "ab"
    )

    assert one
    assert not one & other


def test_a_dollar_sign_begins_no_formula() -> None:
    text = svg(
        Chart(
            name="a",
            title="",
            text="",
            plot=Stacks(labels=("$x_1$ \\frac",), parts=(("p", (1.0,)),), texts=("",), x_title="s"),
        )
    )

    assert "$x_1$ \\frac" in text


def test_names_in_any_script_are_drawn(tmp_path: Path) -> None:
    chart = Chart(
        name="a",
        title="训练",
        text="",
        plot=Stacks(labels=("训练 🚀",), parts=(("p", (1.0,)),), texts=("",), x_title="s"),
    )

    assert "训练 🚀" in svg(chart)
    assert write_png(chart, tmp_path).exists()


def test_labels_on_a_logarithmic_axis_are_plain_numbers() -> None:
    text = svg(Chart(name="a", title="", text="", plot=CURVES))

    assert ">2</text>" in text
    assert "mathdefault" not in text


def test_a_png_is_written_under_the_name_of_the_chart(tmp_path: Path) -> None:
    path = write_png(Chart(name="a-chart", title="A chart", text="", plot=BARS), tmp_path / "plots")

    assert path == tmp_path / "plots" / "a-chart.png"
    assert path.read_bytes().startswith(b"\x89PNG")


def test_describing_charts_needs_no_matplotlib() -> None:
    code = "import sys, steptime.report.files, steptime.report.pages.compare; sys.exit('matplotlib' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_roofline_names_its_dots_and_roofs_and_has_plain_numbers_at_its_axes() -> None:
    text = svg(Chart(name="r", title="", text="", plot=ROOFLINE))

    assert all(f">{name}</text>" in text for name in ("Conv2D", "Mul", "float32", "bfloat16", "10", "0.1"))
    assert "mathdefault" not in text


def test_lanes_name_each_lane_and_each_group_that_occurs_once() -> None:
    text = svg(Chart(name="l", title="", text="", plot=LANES))

    assert text.count(">convolution</text>") == 1
    assert ">matmul</text>" not in text
    assert all(f">thread {number}</text>" in text for number in (1, 2))
