"""``steptime board``."""

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def events(here: Path) -> Path:
    folder = here / "runs" / "train" / "one" / "tb"
    folder.mkdir(parents=True)
    return folder


def test_without_runs_there_is_nothing_to_open(steptime: Any) -> None:
    assert steptime("board") == (
        2,
        "",
        "error: --runs must hold runs with TensorBoard events. Received: 'runs'\nhint: `steptime train` makes one.\n",
    )


def test_a_port_out_of_range_is_refused(steptime: Any, events: Path) -> None:
    code, _, err = steptime("board", "--port", "70000")

    assert code == 2
    assert err.startswith(
        "error: --port must be from 1 to 65535, or 0 for a free one. Received: 70000\nhint: "
    )


def test_a_server_that_ends_at_once_is_a_failed_run_with_its_last_words(
    steptime: Any, events: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = subprocess.Popen
    script = "import sys; sys.exit('no way')"
    monkeypatch.setattr(
        subprocess, "Popen", lambda command, **more: start([sys.executable, "-c", script], **more)
    )
    code, out, err = steptime("board")

    assert (code, out) == (3, "")
    assert err.splitlines()[1] == "error: TensorBoard must stay running. It ended: no way"


@pytest.mark.tensorflow  # TensorBoard itself takes seconds to start
def test_tensorboard_answers_at_the_printed_address_on_this_machine_only(events: Path) -> None:
    board = subprocess.Popen(
        [sys.executable, "-m", "steptime", "board"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert board.stdout is not None
    with board, board.stdout:
        address = board.stdout.readline().strip()
        page = urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address, timeout=30)
        with page:
            assert b"TensorBoard" in page.read()
        board.send_signal(signal.SIGINT)
        assert board.wait(timeout=20) == 0
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("localhost", int(address.strip("/").rpartition(":")[2])), timeout=5)
