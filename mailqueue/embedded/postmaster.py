"""Reads `postmaster.pid`: whether a server runs on a cluster, its process id and port."""

import os
from dataclasses import dataclass
from pathlib import Path

# Line numbers in the file, from PostgreSQL's src/include/utils/pidfile.h.
_PID, _PORT, _STATE = 0, 3, 7


@dataclass(frozen=True, slots=True)
class Postmaster:
    """A running server of one cluster."""

    pid: int
    port: int
    is_ready: bool


def running_postmaster(cluster: Path) -> Postmaster | None:
    """Return the running server of the cluster; None for a stale file."""
    lines = _lines(cluster)
    pid = _pid(lines)
    if pid is None or not is_server_of(pid, cluster):
        return None
    port = int(lines[_PORT]) if len(lines) > _PORT and lines[_PORT].strip().isdigit() else 0
    state = lines[_STATE].strip() if len(lines) > _STATE else ""
    return Postmaster(pid, port, is_ready=state == "ready")


def remove_stale_pid_file(cluster: Path) -> None:
    """Remove a pid file whose pid now belongs to another program: PostgreSQL would not start.

    A file whose process is gone stays: PostgreSQL uses it to find children that outlived their
    server.
    """
    pid = _pid(_lines(cluster))
    if pid is not None and _is_alive(pid) and not is_server_of(pid, cluster):
        (cluster / "postmaster.pid").unlink(missing_ok=True)


def is_server_of(pid: int, cluster: Path) -> bool:
    """Return whether the process is a server started on the cluster."""
    if not _is_alive(pid):
        return False
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except FileNotFoundError:
        return not Path("/proc/self").exists()  # without /proc, trust the pid
    return str(cluster).encode() in command.split(b"\0")


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, PermissionError):
        return False  # a process of another user is not this server
    return True


def _pid(lines: list[str]) -> int | None:
    first = lines[_PID].strip() if lines else ""
    return int(first) if first.isdigit() else None


def _lines(cluster: Path) -> list[str]:
    try:
        return (cluster / "postmaster.pid").read_text("utf-8").splitlines()
    except FileNotFoundError:
        return []
