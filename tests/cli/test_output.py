"""What is printed, and that it cannot fail or disturb."""

import io
import sys

import pytest

from steptime.cli import output


@pytest.mark.parametrize(
    ("text", "line"), [("a\n b\t c", "a b c"), ("\x1b[2J", " [2J"), ("模型 µs", "模型 µs"), ("", "")]
)
def test_one_line_has_neither_breaks_nor_control_characters(text: str, line: str) -> None:
    assert output.one_line(text) == line


def test_a_stream_of_poor_encoding_gets_escapes_instead_of_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    output.out("1 µs")
    output.out_json({"name": "模"})
    sys.stdout.flush()

    assert raw.getvalue() == b'1 \\xb5s\n{\n "name": "\\u6a21"\n}\n'


def test_an_error_without_hint_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    output.error("expected a", None)

    assert capsys.readouterr() == ("", "error: expected a\n")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("variables", "live"), [({}, True), ({"TERM": "dumb"}, False), ({"CI": "true"}, False)]
)
def test_a_live_bar_needs_a_terminal_that_can_redraw(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], live: bool
) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert output.is_terminal() is live
