"""The only module that prints: data to stdout, talk to stderr. Reads well without colour and in a log file."""

import io
import json
import os
import sys
from typing import Any, TextIO


def out(text: str) -> None:
    """Print data to stdout."""
    _accept_any_text(sys.stdout)
    print(text, flush=True)


def out_json(value: Any) -> None:
    """Print a JSON value to stdout."""
    _accept_any_text(sys.stdout)
    print(json.dumps(value, indent=1, ensure_ascii=False), flush=True)


def say(text: str) -> None:
    """Print talk to stderr."""
    print(text, file=sys.stderr, flush=True)


def error(message: str, hint: str | None) -> None:
    """Print an ``error:`` line and a ``hint:`` line to stderr."""
    print(f"error: {one_line(message)}", file=sys.stderr)
    if hint:
        print(f"hint: {one_line(hint)}", file=sys.stderr, flush=True)


def is_terminal() -> bool:
    """Whether stderr is a terminal that can redraw a line."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and "CI" not in os.environ


def close_quietly() -> None:
    """Let the interpreter exit without a complaint about a closed stdout: what is left goes to the null device."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _accept_any_text(stream: TextIO) -> None:
    """Let a stream whose encoding lacks a character print an escape instead of failing."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")


def one_line(text: str) -> str:
    """Join lines and drop control characters, so that no name or message can disturb the terminal."""
    return "".join(ch if ch.isprintable() else " " for ch in " ".join(text.split()))
