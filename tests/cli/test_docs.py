"""The generated pages of docs/."""

from pathlib import Path

import pytest

from steptime.cli import docs


def test_pages_are_written_and_then_fresh(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "docs").mkdir()

    assert docs.main(["--check"]) == 1
    assert "stale: cli.md, doctor.md, lints.md, profile.md, record.md, settings.md" in capsys.readouterr().err
    assert docs.main([]) == 0
    assert docs.main(["--check"]) == 0
    page = here / "docs" / "settings.md"
    page.write_text(page.read_text() + "by hand\n")
    assert docs.main(["--check"]) == 1
    assert "stale: settings.md" in capsys.readouterr().err


def test_pages_do_not_depend_on_the_width_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    narrow = docs.cli_page()
    monkeypatch.setenv("COLUMNS", "200")

    assert docs.cli_page() == narrow


def test_a_cell_keeps_the_table_whole() -> None:
    rows = [line for line in docs.record_page().splitlines() if line.startswith("| `")]

    assert rows
    assert all(line.replace("\\|", "").count("|") == 4 for line in rows)
