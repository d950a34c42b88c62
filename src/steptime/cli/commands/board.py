"""``steptime board``: TensorBoard on the runs, on this machine only."""

import argparse
import socket
import subprocess
import sys
import time

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
    if not 0 <= options.port <= 65535:
        raise UsageError(
            f"--port must be from 1 to 65535, or 0 for a free one. Received: {options.port}",
            hint="Leave it out, and a free one is found.",
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
        _wait_until_it_answers(server, port)
        output.out(address)
        output.say("Ctrl-C ends it")
        # Its messages are read, or a full pipe would block it.
        server.communicate()
    except KeyboardInterrupt:
        pass
    finally:
        server.terminate()
        server.communicate()
    return 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return int(probe.getsockname()[1])


def _wait_until_it_answers(server: "subprocess.Popen[str]", port: int) -> None:
    begin_s = time.perf_counter()
    while time.perf_counter() - begin_s < _START_LIMIT_S:
        if server.poll() is not None:
            words = (server.stderr.read() if server.stderr else "").strip().splitlines()
            raise RunError(
                f"TensorBoard must stay running. It ended: {words[-1] if words else 'without a word'}",
                hint="Give another --port, or install tensorboard again.",
            )
        try:
            socket.create_connection(("localhost", port), timeout=2).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise RunError(
        f"TensorBoard must answer on port {port} within {_START_LIMIT_S:.0f} s.", hint="Try it again."
    )
