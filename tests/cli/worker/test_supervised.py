"""Processes notify systemd when they are ready and when they stop, and drain on SIGTERM."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PARTS = {
    "api": ("api", "--port", "0", "--no-trap"),
    "console": ("console", "--port", "0"),
    "trap": ("trap", "serve", "--port", "0", "--trap-port", "0"),
    "bounces": ("worker", "bounces", "--port", "0"),
    "one worker": ("worker", "send", "--processes", "1"),
    "a fleet": ("worker", "send", "--processes", "2"),
}


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[socket.socket]:
    """The socket of a service manager; a process without messages for a minute has failed."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(str(tmp_path / "notify"))
        sock.settimeout(60)
        yield sock


def heard_until(manager: socket.socket, word: str) -> list[str]:
    found = [manager.recv(100).decode()]
    while found[-1] != word:
        found.append(manager.recv(100).decode())
    return found


@pytest.mark.parametrize("words", PARTS.values(), ids=PARTS)
def test_a_process_says_when_it_is_ready_lives_and_stops(
    fresh_db: str, tmp_path: Path, manager: socket.socket, words: tuple[str, ...]
) -> None:
    pooler = {name: os.environ[name] for name in ("MAILQUEUE_POOLER",) if name in os.environ}
    environment = pooler | {
        "PATH": os.environ["PATH"],
        "MAILQUEUE_DATABASE_URL": fresh_db,
        "MAILQUEUE_DATA": str(tmp_path),
        "NOTIFY_SOCKET": manager.getsockname(),
        "WATCHDOG_USEC": "100000",
    }
    command = [sys.executable, "-m", "mailqueue", *words]
    with (
        (tmp_path / "log").open("wb") as log,
        subprocess.Popen(command, env=environment, stderr=log) as process,
    ):
        first = heard_until(manager, "WATCHDOG=1")
        process.send_signal(signal.SIGTERM)
        last = heard_until(manager, "STOPPING=1")

    assert process.returncode == 0, (tmp_path / "log").read_text()
    assert first == ["READY=1", "WATCHDOG=1"]  # children of a fleet say nothing
    assert set(last) <= {"WATCHDOG=1", "STOPPING=1"}
