"""Documents as text."""

from hypothesis import given
from hypothesis import strategies as st

from steptime.report.document import Document, Heading, Table, Text
from steptime.report.render.text import clean, render_text


def test_columns_are_aligned_and_quantities_set_to_the_right() -> None:
    table = Table(columns=("run", "loss"), rows=(("a", "0.5"), ("longer", "12.25")), right=(1,))

    assert render_text(Document(title="", parts=(table,)), 80) == (
        "  run      loss\n  a         0.5\n  longer  12.25"
    )


def test_long_texts_wrap_inside_the_last_column() -> None:
    table = Table(columns=("", ""), rows=(("key", "word " * 10),))
    lines = render_text(Document(title="", parts=(table,)), 34).splitlines()

    assert lines[0] == "  key  word word word word word"
    assert lines[1] == "       word word word word word"


def test_title_headings_and_paragraphs_follow_each_other() -> None:
    document = Document(
        title="Run",
        parts=(Text(text="a\nb"), Heading(text="More"), Text(text="c d"), Table(columns=("",), rows=())),
    )

    assert render_text(document, 80) == "Run\na\nb\n\nMore\nc d"


@given(st.text())
def test_no_text_can_move_the_cursor(text: str) -> None:
    assert all(ch.isprintable() or ch == "\n" for ch in clean(text))


@given(st.lists(st.tuples(st.text(), st.text()), max_size=4), st.integers(20, 120))
def test_any_cells_can_be_rendered(rows: list[tuple[str, str]], width: int) -> None:
    render_text(Document(title="", parts=(Table(columns=("a", "b"), rows=tuple(rows)),)), width)
