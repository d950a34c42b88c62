"""Writes a page and its pictures into a folder."""

from pathlib import Path

from steptime.record.files import write_bytes
from steptime.report.document import Chart, Document

PAGE_FILE = "report.html"
PLOTS_FOLDER = "plots"


def write_page(document: Document, folder: Path) -> Path:
    """Write ``report.html`` and ``plots/*.png``, and return the path of the page.

    Raises:
        OSError: The folder cannot be written.
    """
    from steptime.report.charts.draw import write_png
    from steptime.report.render.html import render_html

    path = folder / PAGE_FILE
    write_bytes(path, render_html(document).encode())
    for part in document.parts:
        if isinstance(part, Chart):
            write_png(part, folder / PLOTS_FOLDER)
    return path
