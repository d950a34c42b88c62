"""Ports on which the workers of a group listen for each other."""

import contextlib
import errno
import random
import socket

from steptime.errors import UsageError
from steptime.plan.cluster import Place

_LOCALHOST = "127.0.0.1"
# Below the range from which systems take the ports of outgoing connections, which may come in between.
_PORTS = range(20_000, 32_000)


def free_port() -> int:
    """Return a port on which nobody listens, on any interface: TensorFlow listens on all of them."""
    while True:
        port = random.choice(_PORTS)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("", port))
            return port


def free_addresses(count: int) -> tuple[str, ...]:
    """Return addresses of this machine on which nobody listens, each with another port."""
    ports: set[int] = set()
    while len(ports) < count:
        ports.add(free_port())
    return tuple(f"{_LOCALHOST}:{port}" for port in ports)


def check_own_port(place: Place) -> None:
    """Make sure that this worker can listen where the others expect it.

    Raises:
        UsageError: Somebody listens there already.
    """
    _, port = place.address
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        # TensorFlow's server shares no port either, but takes one whose connections have just closed.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            # TensorFlow listens on every interface.
            listener.bind(("", port))
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                return
            raise UsageError(
                f"Worker {place.rank} must be able to listen on port {port}. Received: {error.strerror}",
                hint="Another worker of this or of an earlier run may still hold it; `ss -ltnp` shows who.",
            ) from None
