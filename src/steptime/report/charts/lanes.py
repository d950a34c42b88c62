"""What happened side by side over time: a lane for each thread or stream."""

from typing import TYPE_CHECKING

from steptime.report.charts.style import INK, MUTED, colour, legend_columns, shortened
from steptime.report.document import Lanes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_THICKNESS = 0.8


def draw_lanes(lanes: Lanes, axes: "Axes") -> None:
    """Draw each stretch as a bar in its lane; the first lane is at the top."""
    for group, name in enumerate(lanes.groups):
        first = True
        for lane in range(len(lanes.lanes)):
            own = [(s.begin, s.length) for s in lanes.stretches if s.group == group and s.lane == lane]
            if own:
                axes.broken_barh(
                    own,
                    (lane - _THICKNESS / 2, _THICKNESS),
                    color=colour(group),
                    linewidth=0,
                    label=shortened(name) if first else None,
                )
                first = False
    for mark in lanes.marks:
        axes.axvline(mark, color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
    axes.set_yticks(range(len(lanes.lanes)), [shortened(name) for name in lanes.lanes], color=INK)
    axes.set_ylim(len(lanes.lanes) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.set_xlim(left=0)
    axes.set_xlabel(shortened(lanes.x_title))
    axes.figure.legend(
        loc="outside upper left", ncols=legend_columns(lanes.groups), columnspacing=1.2, handlelength=1.0
    )
