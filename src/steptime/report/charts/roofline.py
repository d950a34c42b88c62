"""The roofline plot: what was reached beside what the machine can reach.

S. Williams, A. Waterman, D. Patterson: Roofline: an insightful visual performance model, CACM 52 (2009).
"""

from typing import TYPE_CHECKING

from steptime.report.charts.style import MUTED, colour, legend_columns, shortened
from steptime.report.document import Roofline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# A dot that is the whole step, and the smallest that is still seen; in square points.
_LARGEST, _SMALLEST = 320.0, 22.0
_MARGIN = 3.0


def draw_roofline(roofline: Roofline, axes: "Axes") -> None:
    """Draw the roofs as lines, and what was reached as dots below them, each in a colour of its own."""
    ridges = [rate / roofline.slope for _, rate in roofline.roofs]
    highest = max(rate for _, rate in roofline.roofs)
    low = min([dot.x for dot in roofline.dots] + ridges) / _MARGIN
    high = max([dot.x for dot in roofline.dots] + ridges) * _MARGIN
    axes.plot([low, highest / roofline.slope], [low * roofline.slope, highest], color=MUTED, linewidth=1.4)
    for (name, rate), ridge in zip(roofline.roofs, ridges, strict=True):
        axes.plot([ridge, high], [rate, rate], color=MUTED, linewidth=1.4)
        # The highest roof has room above, the others below: near ones do not hide each other's names.
        above = rate == highest
        axes.text(
            high,
            rate * (1.15 if above else 0.87),
            shortened(name),
            ha="right",
            va="bottom" if above else "top",
            color=MUTED,
            size=9,
        )
    for dot in sorted(roofline.dots, key=lambda one: -one.weight):
        area = _SMALLEST + _LARGEST * dot.weight
        axes.scatter([dot.x], [dot.y], s=area, color=colour(dot.colour), alpha=0.85, linewidths=0)
        # The legend shows the colour alone: a dot of its true size would push the names apart.
        axes.scatter([], [], s=40, color=colour(dot.colour), label=shortened(dot.name))
    lowest = min([dot.y for dot in roofline.dots] + [low * roofline.slope])
    _scale(axes, (low, high), (lowest / _MARGIN, highest * _MARGIN))
    axes.set_xlabel(shortened(roofline.x_title))
    axes.set_ylabel(shortened(roofline.y_title))
    names = [shortened(dot.name) for dot in roofline.dots]
    axes.figure.legend(
        loc="outside lower left", ncols=legend_columns(names), columnspacing=1.2, handletextpad=0.2
    )


def _scale(axes: "Axes", across: tuple[float, float], up: tuple[float, float]) -> None:
    """Set both axes to decades, with plain numbers at them."""
    from matplotlib.ticker import FuncFormatter, LogLocator

    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(numticks=7))
        axis.set_major_formatter(FuncFormatter(_plain))
    axes.minorticks_off()
    axes.set_xlim(*across)
    axes.set_ylim(*up)


def _plain(value: float, place: int | None = None) -> str:  # noqa: ARG001 - matplotlib's own signature
    return f"{value:g}"
