"""Starts a Python process that may crash or hang, and returns what it said."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a child process left behind.

    Attributes:
        state: ok, failed (it ended with an error), crashed (a signal killed it) or timeout.
        body: The JSON object it printed last, or an empty one.
        said: Its standard error and other output.
    """

    state: str
    body: Mapping[str, object]
    said: bytes


def ask(
    module: str, arguments: Sequence[str], *, limit_s: float, environ: Mapping[str, str] | None = None
) -> Answer:
    """Run ``python -m module`` and read the JSON object on its last line of standard output.

    Args:
        module: Module to run.
        arguments: Its arguments.
        limit_s: Time after which it is killed.
        environ: Environment variables that are set in addition.
    """
    command = [sys.executable, "-m", module, *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=limit_s, check=False, stdin=subprocess.DEVNULL,
            env={**os.environ, **(environ or {})},
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        return Answer(state="timeout", body={}, said=error.stderr or b"")
    except OSError as error:
        return Answer(state="failed", body={}, said=str(error).encode())
    lines = done.stdout.splitlines()
    try:
        body = json.loads(lines[-1]) if lines else {}
    except ValueError:
        body = {}
    state = (
        "crashed"
        if done.returncode < 0
        else "failed"
        if done.returncode or not isinstance(body, dict)
        else "ok"
    )
    killed = f"\nkilled by signal {-done.returncode}".encode() if done.returncode < 0 else b""
    return Answer(state=state, body=body if isinstance(body, dict) else {}, said=done.stderr + killed)
