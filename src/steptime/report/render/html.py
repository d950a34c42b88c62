"""Renders a Document as one HTML file that needs nothing else: no network, no script, light and dark, phone, print."""

from collections.abc import Iterator
from itertools import groupby

import steptime
from steptime.report.document import Chart, Document, Part

_TEMPLATE = "page.html.j2"
# Words that stand alone in a cell and are tinted; the word itself says what the tint says.
_TONES = {
    "faster": "good",
    "slower": "bad",
    "faster, but trained worse": "bad",
    "slower, but trained worse": "bad",
    "same, but trained worse": "bad",
    "same": "even",
    "baseline": "even",
    "cannot tell": "unsure",
    "cannot tell, but trained worse": "bad",
    "failed": "bad",
    "interrupted": "unsure",
}


def render_html(document: Document) -> str:
    """Return the page. Every text is escaped; only the charts, which are made here, are put in as they are."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    from steptime.report.charts.draw import svg

    environment = Environment(
        loader=PackageLoader("steptime.report.render"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.get_template(_TEMPLATE)
    return template.render(
        document=document,
        groups=tuple(_groups(document)),
        svg=lambda chart: Markup(svg(chart)),  # noqa: S704 - matplotlib escapes the texts inside
        tones=_TONES,
        version=steptime.__version__,
    )


def _groups(document: Document) -> Iterator[tuple[str, tuple[Part, ...]]]:
    """Yield parts by kind; charts that follow each other stand side by side where there is room."""
    for kind, parts in groupby(document.parts, key=lambda part: type(part).__name__.lower()):
        if kind == Chart.__name__.lower():
            yield kind, tuple(parts)
        else:
            yield from ((kind, (part,)) for part in parts)
