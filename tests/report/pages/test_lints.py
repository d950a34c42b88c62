"""Findings beside a training, on a page and as JSON."""

import json

from steptime.diagnosis.model.rule import LintFinding, LintReport
from steptime.report.document import Document
from steptime.report.pages.lints import finding_lines, lint_json, lint_parts
from steptime.report.pages.run import run_page
from steptime.report.render.text import render_text
from steptime.testing import make_record


def finding(kind: str, severity: str, *evidence: str) -> LintFinding:
    return LintFinding(
        kind=kind, title="It is wrong.", severity=severity, evidence=evidence or ("3 of 4",), consequence="It fails.",
        fix="y = y - 1", confidence="high", link=f"docs/lints.md#{kind}",
    )  # fmt: skip


REPORT = LintReport(
    findings=(finding("a", "error", "3 of 4", "4 of 4"), finding("b", "warning"), finding("c", "hint")),
    clear=("d", "e"),
    unchecked={"f": "no data", "g": "no data", "h": "no model"},
)


def test_the_most_useful_findings_take_two_lines_each_and_the_rest_is_counted() -> None:
    assert finding_lines(REPORT, most=1) == (
        "error: It is wrong. Seen: 3 of 4 (and 1 more). [a]",
        "  fix: y = y - 1",
        "and 1 warning, 1 hint more",
    )
    assert len(finding_lines(REPORT)) == 6


def test_nothing_found_is_nothing_said() -> None:
    assert finding_lines(LintReport(findings=(), clear=("a",), unchecked={})) == ()


def test_the_page_shows_every_finding_and_what_was_not_checked() -> None:
    text = render_text(Document(title="", parts=lint_parts(REPORT)), 100)

    assert "  error    It is wrong." in text
    assert "  seen     4 of 4" in text
    assert "1 error, 1 warning, 1 hint; 2 kinds of mistake were looked for and not found" in text
    assert "not checked, since no data: f, g" in text


def test_the_page_of_a_run_has_a_section_for_them() -> None:
    assert "Findings about model and data" in render_text(run_page(make_record(), REPORT))
    assert "Findings about model and data" not in render_text(run_page(make_record()))


def test_json_holds_everything() -> None:
    body = json.loads(json.dumps(lint_json(REPORT)))

    assert [item["severity"] for item in body["findings"]] == ["error", "warning", "hint"]
    assert body["findings"][0]["evidence"] == ["3 of 4", "4 of 4"]
    assert body["clear"] == ["d", "e"]
    assert body["unchecked"]["h"] == "no model"
