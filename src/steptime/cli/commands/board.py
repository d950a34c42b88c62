"""``steptime board``: TensorBoard on the runs, on this machine only."""

import argparse
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

from steptime.cli import options as shared
from steptime.cli import output
from steptime.errors import RunError, UsageError

_START_LIMIT_S = 60.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    shared.add_runs_option(parser)
    parser.add_argument("--port", type=int, default=0, help="port on localhost (default: a free one)")


def run(options: argparse.Namespace) -> int:
    """Start TensorBoard, print its address once it answers, and stay until Ctrl-C."""
    folder = shared.runs_folder(options)
    if not any(folder.glob("*/*/tb")):
        raise UsageError(
            f"--runs must hold runs with TensorBoard events. Received: {str(folder)!r}",
            hint="`steptime train` makes one.",
        )
    port = options.port or _free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "tensorboard.main", "--logdir", str(folder), "--host", "localhost",
         "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    address = f"http://localhost:{port}/"
    try:
        output.say("starting TensorBoard ...")
        _wait_until_it_answers(server, address)
        output.out(address)
        output.say("Ctrl-C ends it")
        # Its messages are read, or a full pipe would block it.
        server.communicate()
    except KeyboardInterrupt:
        pass
    finally:
        server.terminate()
        server.wait()
    return 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return int(probe.getsockname()[1])


def _wait_until_it_answers(server: "subprocess.Popen[str]", address: str) -> None:
    begin_s = time.perf_counter()
    while time.perf_counter() - begin_s < _START_LIMIT_S:
        if server.poll() is not None:
            words = (server.stderr.read() if server.stderr else "").strip().splitlines()
            raise RunError(
                f"TensorBoard must stay running. It ended: {words[-1] if words else 'without a word'}",
                hint="Give another --port, or install tensorboard again.",
            )
        try:
            with urllib.request.urlopen(address, timeout=2):  # noqa: S310 - the address is our own localhost
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise RunError(
        f"TensorBoard must answer at {address} within {_START_LIMIT_S:.0f} s.", hint="Try it again."
    )
