"""``steptime settings``: every setting with type, default and meaning."""

import argparse

from steptime.cli import options as shared
from steptime.cli import output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    shared.add_json_option(parser)


def run(options: argparse.Namespace) -> int:
    """Print the declarations."""
    from steptime.plan.settings import describe
    from steptime.report.document import Document, Table
    from steptime.report.render.text import render_text

    rows = describe()
    names = ("key", "type", "default", "meaning")
    if options.json:
        output.out_json([dict(zip(names, row, strict=True)) for row in rows])
    else:
        output.out(render_text(Document(title="", parts=(Table(columns=names, rows=rows),))))
    return 0
