"""One HTML file: complete in itself, and safe against names that contain markup."""

import dataclasses
import re
from html.parser import HTMLParser

import pytest

from steptime.plan.arm import Arm
from steptime.plan.workload import Workload
from steptime.record.study import Study
from steptime.report.document import Bars, Chart, Code, Curves, Document, Heading, Series, Table, Text
from steptime.report.pages.compare import compare_page
from steptime.report.render.html import render_html

pytestmark = pytest.mark.slow  # a page with drawn charts takes a second

MARKUP = "<script>alert('x')</script> & \"q\" | `tick` $\\alpha$ <img src=x onerror=alert(1)>"


class Elements(HTMLParser):
    """Collects the names, attributes and texts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def everything_named(name: str) -> Document:
    chart = Chart(
        name="bars",
        title=name,
        text=name,
        plot=Bars(
            labels=(name,),
            colours=(0,),
            values=(1.0,),
            lows=(0.5,),
            highs=(2.0,),
            texts=(name,),
            x_title=name,
        ),
    )
    line = Series(name=name, colour=1, x=(0.0, 1.0), y=(1.0, 2.0))
    curves = Chart(
        name="curves", title=name, text=name, plot=Curves(series=(line,), x_title=name, y_title=name)
    )
    table = Table(columns=(name, name), rows=((name, f"{name}\n{name}"),))
    parts = (Heading(text=name), Text(text=name), Code(text=name), table, chart, curves)
    return Document(above=name, title=name, parts=parts)


def test_no_name_becomes_markup() -> None:
    page = Elements(render_html(everything_named(MARKUP)))

    assert "script" not in page.tags
    assert "img" not in page.tags
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert "".join(page.texts).count("alert('x')") >= 8


def test_names_in_a_comparison_do_not_become_markup(compared) -> None:
    arm = Arm(name=MARKUP, changes={"device": "cpu"})
    facts = dataclasses.replace(compared.comparison.arms[1], arm=arm)
    comparison = dataclasses.replace(compared.comparison, arms=(compared.comparison.arms[0], facts))
    workload = Workload(name=MARKUP, kind="file", target=f"/tmp/{MARKUP}.py")
    runs = {
        name: [
            dataclasses.replace(
                run,
                record=dataclasses.replace(
                    run.record, plan=dataclasses.replace(run.record.plan, workload=workload)
                ),
            )
            for run in own
        ]
        for name, own in {
            compared.comparison.baseline: compared.runs["cpu loop=keras"],
            MARKUP: compared.runs["cpu"],
        }.items()
    }
    study = Study(
        arms=compared.study.arms, baseline=compared.study.baseline, command=("steptime", MARKUP), stop=MARKUP
    )

    page = Elements(render_html(compare_page(comparison, study, runs)))

    assert "script" not in page.tags
    assert "img" not in page.tags


def test_the_page_loads_nothing(page: str) -> None:
    elements = Elements(page)

    assert not {"script", "iframe", "object", "embed", "img"} & set(elements.tags)
    loading = [value for name, value in elements.attributes if name in ("src", "href", "xlink:href", "data")]
    assert all(value is not None and value.startswith(("#", "data:")) for value in loading)
    assert "url(http" not in page
    assert "@import" not in page


def test_charts_are_drawings_whose_text_is_text(page: str) -> None:
    elements = Elements(page)

    assert elements.tags.count("svg") == elements.tags.count("figure") >= 6
    assert "seconds per epoch" in [text.strip() for text in elements.texts]


def test_every_id_is_unique_and_every_reference_leads_somewhere(page: str) -> None:
    ids = re.findall(r'\bid="([^"]+)"', page)
    references = re.findall(r'(?:xlink:href="#|url\(#)([^")]+)', page)

    assert len(ids) == len(set(ids))
    assert references
    assert set(references) <= set(ids)


def test_colours_are_the_page_s_own_so_that_dark_works(page: str) -> None:
    used = set(re.findall(r"var\(--([a-z0-9-]+)", page))
    defined = set(re.findall(r"--([a-z0-9-]+):", page))

    assert {"c0", "ink", "muted", "grid"} <= used
    assert used <= defined


def test_the_same_comparison_gives_the_same_page(compared, page: str) -> None:
    assert render_html(compare_page(compared.comparison, compared.study, compared.runs)) == page
