"""Renders a Document for a terminal or a log file: no colour, aligned columns, nothing that can disturb it."""

import shutil
import textwrap

from steptime.report.document import Document, Heading, Part, Table, Text


def render_text(document: Document, width: int | None = None) -> str:
    """Return the document as text.

    Args:
        document: What to render.
        width: Columns to wrap at; the terminal's when None.
    """
    columns = width or shutil.get_terminal_size((100, 24)).columns
    blocks = [clean(document.title)] if document.title else []
    blocks += [_render(part, columns) for part in document.parts]
    return "\n".join(block for block in blocks if block).strip("\n")


def clean(text: str) -> str:
    """Replace control characters: a run's name must not be able to move the cursor."""
    return "".join(ch if ch.isprintable() or ch == "\n" else "�" for ch in text)


def _render(part: Part, width: int) -> str:
    if isinstance(part, Heading):
        return f"\n{clean(part.text)}"
    if isinstance(part, Text):
        return "\n".join(textwrap.fill(line, width) for line in clean(part.text).splitlines())
    return _render_table(part, width)


def _render_table(table: Table, width: int) -> str:
    head = [table.columns] if any(table.columns) else []
    rows = [tuple(clean(cell) for cell in row) for row in (*head, *table.rows)]
    if not rows:
        return ""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    # The last column takes what is left, so that long texts wrap inside it instead of breaking the table.
    before_last = sum(widths[:-1]) + 2 * len(widths[:-1]) + 2
    room = max(width - before_last, 24)
    lines = []
    for row in rows:
        cells = [
            cell.rjust(widths[i]) if i in table.right else cell.ljust(widths[i])
            for i, cell in enumerate(row[:-1])
        ]
        last = row[-1].rjust(widths[-1]) if len(row) - 1 in table.right else row[-1]
        wrapped = textwrap.wrap(last, room) if len(last) > room else [last]
        lines.append("  " + "  ".join([*cells, wrapped[0] if wrapped else ""]).rstrip())
        lines += [" " * before_last + line for line in wrapped[1:]]
    return "\n".join(lines)
