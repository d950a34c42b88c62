"""Horizontal bars, with intervals or made of parts; the label stands above its bar, where a phone has room."""

from typing import TYPE_CHECKING

from steptime.report.charts.style import INK, MUTED, colour, shortened
from steptime.report.document import Bars, Stacks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_THICKNESS = 0.42
_LABEL_OFFSET = 0.36
# Three names longer than this do not stand side by side.
_LONG_NAME = 20


def draw_bars(bars: Bars, axes: "Axes") -> None:
    """Draw each bar with its interval as a line over its end."""
    for place, value in enumerate(bars.values):
        axes.barh(place, value, height=_THICKNESS, color=colour(bars.colours[place]))
    known = [place for place, low in enumerate(bars.lows) if low < bars.highs[place]]
    spread = [
        [bars.values[place] - bars.lows[place] for place in known],
        [bars.highs[place] - bars.values[place] for place in known],
    ]
    ends = [bars.values[place] for place in known]
    axes.errorbar(ends, known, xerr=spread, fmt="none", ecolor=INK, elinewidth=1.2, capsize=3)
    _finish(axes, bars.labels, bars.texts, bars.highs, bars.x_title)


def draw_stacks(stacks: Stacks, axes: "Axes") -> None:
    """Draw each bar as its parts, one after the other."""
    ends = [0.0] * len(stacks.labels)
    for number, (name, lengths) in enumerate(stacks.parts):
        axes.barh(
            range(len(lengths)),
            lengths,
            left=ends,
            height=_THICKNESS,
            color=colour(number),
            label=shortened(name),
        )
        ends = [end + length for end, length in zip(ends, lengths, strict=True)]
    _finish(axes, stacks.labels, stacks.texts, tuple(ends), stacks.x_title)
    longest = max((len(name) for name, _ in stacks.parts), default=0)
    axes.figure.legend(
        loc="outside lower left", ncols=2 if longest > _LONG_NAME else 3, columnspacing=1.2, handlelength=1.0
    )


def _finish(
    axes: "Axes", labels: tuple[str, ...], texts: tuple[str, ...], ends: tuple[float, ...], x_title: str
) -> None:
    longest = max(ends, default=0.0) or 1.0
    for place, (label, text, end) in enumerate(zip(labels, texts, ends, strict=True)):
        axes.text(0, place - _LABEL_OFFSET, shortened(label), va="center", color=INK, size=10)
        axes.text(end + longest * 0.02, place, shortened(text), va="center", color=MUTED, size=10)
    axes.set_xlim(0, longest * 1.28)
    axes.set_ylim(len(labels) - 0.6, -0.62)
    axes.set_yticks([])
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(shortened(x_title))
