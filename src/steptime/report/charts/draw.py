"""Turns a chart into SVG for a page, or into a PNG file."""

import io
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from steptime.record.files import write_bytes
from steptime.report.charts import style
from steptime.report.charts.bars import draw_bars, draw_stacks
from steptime.report.charts.curves import draw_curves
from steptime.report.charts.lanes import draw_lanes
from steptime.report.charts.roofline import draw_roofline
from steptime.report.document import Bars, Chart, Curves, Lanes, Roofline, Stacks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROW_IN = 0.56  # height of one bar with its label
_LEGEND_IN = 0.8  # height of a legend of several lines


def svg(chart: Chart) -> str:
    """Return the chart as an ``svg`` element to be put into a page: colours are the page's, text is text."""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({**style.RC, "svg.hashsalt": chart.name}), _without_warnings():
        _figure(chart).savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    return _for_page(buffer.getvalue(), chart.name)


def write_png(chart: Chart, folder: Path) -> Path:
    """Write ``<folder>/<name>.png`` on white, with its title, and return its path."""
    import matplotlib

    buffer = io.BytesIO()
    with matplotlib.rc_context(style.RC), _without_warnings():
        figure = _figure(chart)
        figure.suptitle(style.shortened(chart.title), x=0.02, ha="left", size=10, color=style.INK)
        figure.savefig(buffer, format="png", facecolor="white")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{chart.name}.png"
    write_bytes(path, buffer.getvalue())
    return path


def _without_warnings() -> "warnings.catch_warnings[None]":
    """Keep matplotlib quiet about letters that its own font lacks: in a page the reader's font has them."""
    return warnings.catch_warnings(action="ignore", category=UserWarning)


def _figure(chart: Chart) -> "Figure":
    # Figure itself instead of pyplot: no window system, and nothing global to be closed.
    from matplotlib.figure import Figure

    plot = chart.plot
    height_in = style.HEIGHT_IN
    if isinstance(plot, Bars | Stacks):
        height_in = max(height_in, len(plot.labels) * _ROW_IN + (1.3 if isinstance(plot, Stacks) else 0.8))
    if isinstance(plot, Roofline):
        height_in += _LEGEND_IN
    figure = Figure(figsize=(style.WIDTH_IN, height_in))
    axes = figure.add_subplot()
    match plot:
        case Bars():
            draw_bars(plot, axes)
        case Stacks():
            draw_stacks(plot, axes)
        case Curves():
            draw_curves(plot, axes)
        case Roofline():
            draw_roofline(plot, axes)
        case Lanes():
            draw_lanes(plot, axes)
        case _:
            assert_never(plot)
    return figure


def _for_page(text: str, name: str) -> str:
    """Make matplotlib's file part of a page: no prologue, no size, ids of its own, colours by name."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{name}-", text)
    text = re.sub(r"font: ([\d.]+px)[^;\"]*", r"font: \1 system-ui, sans-serif", text)
    named = {
        **{c: f"c{i}" for i, c in enumerate(style.PALETTE)},
        style.INK: "ink",
        style.MUTED: "muted",
        style.GRID: "grid",
    }
    for colour, variable in named.items():
        text = text.replace(colour, f"var(--{variable}, {colour})")
    return text.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)
