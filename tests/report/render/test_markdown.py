"""Markdown that can be pasted into an issue."""

from steptime.report.document import Code, Document, Heading, Table, Text
from steptime.report.render.markdown import render_markdown


def test_a_document_becomes_markdown() -> None:
    table = Table(columns=("arm", "time"), rows=(("cpu", "1.0 s\n0.9 s to 1.1 s"),), right=(1,))
    parts = (Text(text="Words with `code`."), Heading(text="More"), table, Code(text="steptime compare"))
    text = render_markdown(Document(above="steptime compare", title="cpu is faster.", parts=parts))

    assert text == (
        "*steptime compare*\n\n## cpu is faster.\n\nWords with `code`.\n\n### More\n\n"
        "| arm | time |\n| --- | ---: |\n| cpu | 1.0 s (0.9 s to 1.1 s) |\n\n```\nsteptime compare\n```"
    )


def test_names_cannot_become_markup() -> None:
    name = "<b>a</b> | *b* [c](d) _e_ #f"
    text = render_markdown(Document(title=name, parts=(Table(columns=(name,), rows=((name,),)),)))

    assert r"\<b\>a\</b\> \| \*b\* \[c\](d) \_e\_ \#f" in text
    for line in text.splitlines()[2:]:
        assert line.replace(r"\|", "").count("|") == 2


def test_a_fence_is_longer_than_any_inside() -> None:
    text = render_markdown(Document(title="", parts=(Code(text="a ```` b"),)))

    assert text == "`````\na ```` b\n`````"
