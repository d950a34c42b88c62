"""When another GPU or machine pays, as a page: by arithmetic, with what it takes for granted."""

from collections.abc import Sequence

from steptime import units
from steptime.analysis.scaling import BACKWARD_SHARE, WORTH_SHARE, Efficiency, Link, Scaling, Work
from steptime.report.document import Document, Heading, Part, Table, Text

_RING = (
    "Gradients are exchanged by a ring all-reduce, 2 (N - 1) messages of 1/N of their size (Patarasuk and Yuan, J."
    " Parallel Distrib. Comput. 69, 2009), over the slowest link of the ring, packed into one transfer."
)
_OVERLAP = (
    "The lower share of a range: the exchange begins after the backward pass. The higher one: it goes on during the"
    f" backward pass, taken as {units.share(BACKWARD_SHARE)} of the step."
)
_ALIKE = "All devices are like the one that was timed, and none waits for another or for its data."
_WORTH = f"Worth it: at least {units.share(WORTH_SHARE)} of a perfect speed-up, with the batch growing."


def scale_page(name: str, work: Work, scalings: Sequence[Scaling], cautions: Sequence[str]) -> Document:
    """Return the tables of ``steptime scale``.

    Args:
        name: What is trained, and where its step time comes from.
        work: One step on one device.
        scalings: Link by link, the same numbers of devices for each.
        cautions: What a reader must know before trusting the numbers.
    """
    parts: list[Part] = [Text(text=text, is_caution=True) for text in cautions]
    parts += [
        Heading(text="Exchanging the gradients, and the step on one device from which others are worth it")
    ]
    parts += [_exchange_table(scalings)]
    if work.step_s is not None:
        parts += [
            Heading(text="Share of a perfect speed-up when the batch grows with the devices"),
            _efficiency_table(scalings, "growing"),
            Heading(text="Share of a perfect speed-up when the batch stays as it is"),
            _efficiency_table(scalings, "same"),
            Text(text=_same_batch(work)),
        ]
    links = [item.link for item in _first_of_each_link(scalings)]
    sources = tuple(("links", text) for text in dict.fromkeys(link.source for link in links))
    taken = (("exchange", _RING), ("overlap", _OVERLAP), ("devices", _ALIKE), ("worth", _WORTH), *sources)
    parts += [Heading(text="What this takes for granted"), Table(columns=("", ""), rows=taken)]
    parts += [Heading(text="Links"), _link_table(links)]
    return Document(title=name, parts=tuple(parts))


def _same_batch(work: Work) -> str:
    if work.fixed_s:
        return (
            f"Of each step {units.seconds(work.fixed_s)} do not shrink with the batch, by the line through two"
            " batch sizes."
        )
    return (
        "These are upper limits: they take a step on half the batch as half as long. Two runs with different batch"
        " sizes tell how long it is: --run RUN --run RUN."
    )


def _exchange_table(scalings: Sequence[Scaling]) -> Table:
    first = _first_of_each_link(scalings)
    counts = _counts(scalings)
    rows = tuple(
        (
            item.link.name,
            *(units.seconds(other.all_reduce_s) for other in scalings if other.link == item.link),
            f"{units.seconds(item.worth_from_s[0])} to {units.seconds(item.worth_from_s[1])}",
        )
        for item in first
    )
    columns = ("link", *(f"{count} devices" for count in counts), f"{counts[0]} are worth it from a step of")
    return Table(columns=columns, rows=rows, right=tuple(range(1, len(columns))))


def _efficiency_table(scalings: Sequence[Scaling], which: str) -> Table:
    counts = _counts(scalings)
    rows = tuple(
        (
            item.link.name,
            *(_range(getattr(other, which)) for other in scalings if other.link == item.link),
        )
        for item in _first_of_each_link(scalings)
    )
    columns = ("link", *(f"{count} devices" for count in counts))
    return Table(columns=columns, rows=rows, right=tuple(range(1, len(columns))))


def _range(efficiency: Efficiency) -> str:
    low, high = f"{efficiency.low * 100:.0f}", f"{efficiency.high * 100:.0f}"
    return f"{low} %" if low == high else f"{low} to {high} %"


def _link_table(links: Sequence[Link]) -> Table:
    rows = tuple(
        (
            link.name,
            f"{link.bytes_per_s / 1e9:g} GB/s",
            f"{link.usable_bytes_per_s / 1e9:.3g} GB/s",
            units.seconds(link.latency_s),
        )
        for link in links
    )
    return Table(columns=("link", "one way", "taken", "an empty message"), rows=rows, right=(1, 2, 3))


def _counts(scalings: Sequence[Scaling]) -> list[int]:
    return sorted({item.devices for item in scalings})


def _first_of_each_link(scalings: Sequence[Scaling]) -> list[Scaling]:
    return [item for item in scalings if item.devices == _counts(scalings)[0]]
