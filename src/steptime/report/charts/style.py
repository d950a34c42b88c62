"""How charts look: sizes, and colours that people with any colour vision can tell apart."""

from collections.abc import Iterable
from typing import Any

# Okabe and Ito, "Color Universal Design" (2008), less its yellow, which is too pale for lines on white.
PALETTE = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#7a5195", "#6b7280")
INK = "#1b2430"
MUTED = "#5d6875"
GRID = "#d9dee5"

# Inches at 100 dots an inch. A chart this small is readable on a phone, and only a little large on a desk.
WIDTH_IN = 4.8
HEIGHT_IN = 3.0
_LONGEST_NAME = 40

RC: Any = {
    "figure.dpi": 100,
    "savefig.dpi": 160,
    "figure.constrained_layout.use": True,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": MUTED,
    "axes.labelsize": 9.5,
    "axes.edgecolor": GRID,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": False,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "xtick.color": GRID,
    "ytick.color": GRID,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    # Text stays text: it can be read aloud, searched and copied, and follows the page's font.
    "svg.fonttype": "none",
    # A dollar sign in a name begins no formula.
    "text.parse_math": False,
}


def colour(number: int) -> str:
    """Return a colour by its number; after the last one they come again."""
    return PALETTE[number % len(PALETTE)]


def shortened(text: str) -> str:
    """Return a name that fits into a chart; the tables beside it have the whole of it."""
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"


def legend_columns(names: Iterable[str]) -> int:
    """Return how many names stand side by side in a legend."""
    longest = max(map(len, names), default=0)
    return 3 if longest <= 12 else 2 if longest <= 22 else 1
