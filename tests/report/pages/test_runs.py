"""The list of runs."""

from pathlib import Path

from steptime.record.store import RunSummary
from steptime.report.pages.runs import runs_page
from steptime.report.render.text import render_text
from steptime.testing import make_record

GOLDEN = Path(__file__).parents[2] / "golden"


def test_the_page_is_the_golden_one() -> None:
    good = make_record()
    fresh = make_record(epochs=(), steps=None, device=None)
    page = runs_page(
        [
            RunSummary(run_id=good.run_id, folder=Path("a"), record=good, state="ok"),
            RunSummary(run_id="2", folder=Path("b"), record=fresh, state="failed"),
            RunSummary(run_id="3", folder=Path("c"), record=None, state="no record (last phase: data)"),
        ]
    )

    assert render_text(page, 120) + "\n" == (GOLDEN / "runs_page.txt").read_text(encoding="utf-8")
