"""Renders a Document as Markdown, to be pasted into an issue."""

import re

from steptime.report.document import Chart, Code, Document, Heading, Part, Table, Text
from steptime.report.render.text import clean, joined


def render_markdown(document: Document) -> str:
    """Return the document as GitHub-flavoured Markdown; names cannot become markup in it."""
    blocks = [f"*{_inline(document.above)}*"] if document.above else []
    blocks += [f"## {_inline(document.title)}"] if document.title else []
    blocks += [_render(part) for part in document.parts if not isinstance(part, Chart)]
    return "\n\n".join(blocks)


def _render(part: Part) -> str:
    if isinstance(part, Heading):
        return f"### {_inline(part.text)}"
    if isinstance(part, Code):
        longest = max((len(run) for run in re.findall(r"`+", part.text)), default=0)
        fence = "`" * max(3, longest + 1)
        return f"{fence}\n{clean(part.text)}\n{fence}"
    if isinstance(part, Table):
        return _table(part)
    return _inline(part.text) if isinstance(part, Text) else ""


def _table(table: Table) -> str:
    marks = ["---:" if number in table.right else "---" for number in range(len(table.columns))]
    head, *rows = [" | ".join(_cell(cell) for cell in row) for row in (table.columns, *table.rows)]
    return "\n".join(f"| {line} |" for line in (head, " | ".join(marks), *rows))


def _cell(text: str) -> str:
    return _inline(joined(text)).replace("|", "\\|")


def _inline(text: str) -> str:
    """Escape what would be markup; backticks stay, since the pages themselves use them for commands."""
    return re.sub(r"([\\*_<>\[\]#])", r"\\\1", " ".join(clean(text).split()))
