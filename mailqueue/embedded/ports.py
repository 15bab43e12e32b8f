"""Chooses a free port on loopback for a server that cannot choose one itself."""

import random
import socket
from pathlib import Path

HOST = "127.0.0.1"
FIRST_PORT = 16_384
_EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")
_TRIES = 100


def free_port() -> int:
    """Return a port on which no process listens at the moment.

    The port is below the range from which the system assigns ports to outgoing connections, so that
    only another caller of this function could take it before the server listens.
    """
    below = range(FIRST_PORT, _first_ephemeral())
    for port in random.sample(below, min(_TRIES, len(below))):
        if is_free(port):
            return port
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        given: int = probe.getsockname()[1]
    return given


def is_free(port: int) -> bool:
    """Return whether a process could listen on the port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _first_ephemeral() -> int:
    """Return where the system's range of ephemeral ports begins; 0 if unknown."""
    try:
        return int(_EPHEMERAL.read_text("ascii").split()[0])
    except FileNotFoundError:
        return 0
