"""Lines over time or over another axis, with bands and a target."""

import math
from typing import TYPE_CHECKING

from steptime.report.charts.style import MUTED, colour, legend_columns, shortened
from steptime.report.document import Curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_curves(curves: Curves, axes: "Axes") -> None:
    """Draw every series; those without a name belong to one that has it, and are drawn like it."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    for series in curves.series:
        shade = colour(series.colour)
        if series.low:
            axes.fill_between(series.x, series.low, series.high, color=shade, alpha=0.22, linewidth=0)
        axes.plot(
            series.x,
            series.y,
            color=shade,
            marker="o" if series.is_marked else None,
            linewidth=1.1 if series.is_marked else 1.6,
            label=shortened(series.name) or None,
        )
    if curves.level is not None:
        axes.axhline(curves.level, color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
    if curves.is_log:
        axes.set_yscale("log")
        # Over few decades the powers of ten alone would label one tick or none.
        low, high = axes.get_ylim()
        decades = math.log10(high / low)
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if decades < 2.5 else (1.0,)))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(_plain))
    if curves.from_zero:
        axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    axes.set_xlabel(shortened(curves.x_title))
    axes.set_ylabel(shortened(curves.y_title))
    names = [shortened(series.name) for series in curves.series if series.name]
    if names:
        axes.figure.legend(
            loc="outside upper left", ncols=legend_columns(names), columnspacing=1.2, handlelength=1.4
        )


def _plain(value: float, place: int | None = None) -> str:  # noqa: ARG001 - matplotlib's own signature
    return f"{value:g}"
