"""A page before it has a format: headings, paragraphs, code, tables and charts, in order."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """The title of a section."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A paragraph, or one line.

    Attributes:
        text: Its words; what stands between backticks is code.
        is_caution: Whether it warns of something.
    """

    text: str
    is_caution: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Lines that are shown as they are: a command, the end of a log."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of text under column names; empty names make a list of pairs.

    Attributes:
        columns: Column names; all of them empty for a table without a head.
        rows: Cells, as text for people. Further lines of a cell are of less weight: its interval.
        right: Numbers of the columns that hold quantities and are set to the right.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """One horizontal bar for each label, with its interval.

    Attributes:
        labels: Names of the bars.
        colours: Numbers of their colours.
        values: Their lengths.
        lows: Lower ends of the intervals.
        highs: Upper ends.
        texts: What is written beside each bar.
        x_title: Title of the axis, with its unit.
    """

    labels: tuple[str, ...]
    colours: tuple[int, ...]
    values: tuple[float, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]
    texts: tuple[str, ...]
    x_title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stacks:
    """One horizontal bar for each label, made of parts.

    Attributes:
        labels: Names of the bars.
        parts: Name of each part and its length in every bar, in order.
        texts: What is written beside each bar.
        x_title: Title of the axis, with its unit.
    """

    labels: tuple[str, ...]
    parts: tuple[tuple[str, tuple[float, ...]], ...]
    texts: tuple[str, ...]
    x_title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One line of a plot.

    Attributes:
        name: What the legend calls it; empty for a line that belongs to one that is named.
        colour: Number of its colour; lines of one thing share it.
        x: Places.
        y: Values.
        low: Lower edge of a band around it; empty for none.
        high: Upper edge.
        is_marked: Whether points are drawn as markers, as for values that are known at these places only.
    """

    name: str
    colour: int
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    is_marked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """Lines over one axis.

    Attributes:
        series: The lines.
        x_title: Title of the horizontal axis, with its unit.
        y_title: Title of the vertical axis, with its unit.
        is_log: Whether the vertical axis is logarithmic.
        from_zero: Whether the vertical axis begins at 0.
        level: A horizontal line, such as a target; None for none.
    """

    series: tuple[Series, ...]
    x_title: str
    y_title: str
    is_log: bool = False
    from_zero: bool = False
    level: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """One thing in a roofline plot.

    Attributes:
        name: What it is; written beside the dot.
        colour: Number of its colour.
        x: Operations for each byte.
        y: Operations a second.
        weight: Its part of the whole, from 0 to 1; the dot's area.
    """

    name: str
    colour: int
    x: float
    y: float
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Roofline:
    """What was reached beside what can be reached, both axes logarithmic.

    Attributes:
        dots: What was reached.
        roofs: Name and operations a second of each ceiling.
        slope: Bytes a second: below the ridge the roof is this times the operations for each byte.
        x_title: Title of the horizontal axis, with its unit.
        y_title: Title of the vertical axis, with its unit.
    """

    dots: tuple[Dot, ...]
    roofs: tuple[tuple[str, float], ...]
    slope: float
    x_title: str
    y_title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """One stretch of a lane.

    Attributes:
        lane: Number of its lane.
        group: Number of what the legend calls it; its colour.
        begin: Where it begins.
        length: How long it is.
    """

    lane: int
    group: int
    begin: float
    length: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Lanes:
    """What happened side by side over time.

    Attributes:
        lanes: Their names, from the top.
        groups: Names of the kinds of stretches.
        stretches: What happened.
        marks: Places of vertical lines, such as where a step begins.
        x_title: Title of the axis, with its unit.
    """

    lanes: tuple[str, ...]
    groups: tuple[str, ...]
    stretches: tuple[Stretch, ...]
    marks: tuple[float, ...]
    x_title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A picture.

    Attributes:
        name: Fit for a file's name: small letters and hyphens.
        title: What it shows.
        text: How to read it, in a sentence or two.
        plot: Its data.
    """

    name: str
    title: str
    text: str
    plot: Bars | Stacks | Curves | Roofline | Lanes


Part = Heading | Text | Code | Table | Chart


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A page: a title (may be empty), a small line above it, and its parts."""

    title: str
    parts: tuple[Part, ...]
    above: str = ""
