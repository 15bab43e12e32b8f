"""Creates, starts and stops one private PostgreSQL cluster on loopback."""

import locale
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mailqueue.core.errors import Unavailable
from mailqueue.embedded.binaries import Binaries
from mailqueue.embedded.folder import kept_password, write_private
from mailqueue.embedded.ports import HOST, free_port, is_free
from mailqueue.embedded.postmaster import (
    Postmaster,
    is_server_of,
    remove_stale_pid_file,
    running_postmaster,
)
from mailqueue.embedded.service_user import Account

SUPERUSER = "postgres"
CLUSTER_FOLDER = "pgdata"
_START_SECONDS = 60.0
_STOP_SECONDS = 60.0
_POLL_SECONDS = 0.02
_RETRY_SECONDS = 0.2
_LOG_BYTES = 10_000_000
_MIB = 1 << 20
# Remains of a killed server that go away within moments: child processes, shared memory, the port.
_PASSES = ("pre-existing shared memory block", "lock file", "shared memory segment")
_PORT_TAKEN = ("Address already in use", "could not bind", "could not create any TCP/IP sockets")


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster below `home`; `settings` are added to postgresql.conf when it is created."""

    home: Path
    binaries: Binaries
    account: Account
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return self.home / CLUSTER_FOLDER

    @property
    def log(self) -> Path:
        return self.home / "postgresql.log"

    def superuser_password(self) -> str:
        return kept_password(self.home / "superuser_password")

    def superuser_url(self, port: int, database: str = "postgres") -> str:
        return f"postgresql://{SUPERUSER}:{self.superuser_password()}@{HOST}:{port}/{database}"

    def make(self) -> None:
        """Create the cluster if it does not exist.

        One whose creation was interrupted is created again.
        """
        if (self.folder / "PG_VERSION").exists():
            return
        unfinished = self.home / "pgdata.new"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(mode=0o700)
        self.account.own(unfinished)
        password = self.home / ".initdb"
        write_private(password, self.superuser_password())
        try:
            self.account.own(password)
            self._checked(self._initdb(unfinished, password))
        finally:
            password.unlink()
        self._add_settings(unfinished)
        unfinished.rename(self.folder)

    def start(self, port: int | None = None) -> tuple[Postmaster, subprocess.Popen[bytes] | None]:
        """Start the server if it is not running; return its process if it is a child of this one.

        With `port` None the last used port is taken, or a free one; a port in use is skipped.

        Raises:
            Unavailable: it does not start; the message has the last line of the server's log.
        """
        deadline = time.monotonic() + _START_SECONDS
        port = port or self._last_port()
        while True:
            found = running_postmaster(self.folder)
            if found is not None and found.is_ready:
                return found, None
            if found is None:
                started = self._try_start(port, deadline)
                if not isinstance(started, str):
                    return started
                if any(words in started for words in _PORT_TAKEN):
                    port = free_port()
                elif not any(words in started for words in _PASSES):
                    raise self._failed(started)
            if time.monotonic() > deadline:
                raise self._failed("it was not ready in time")
            time.sleep(_RETRY_SECONDS)

    def stop(self, process: subprocess.Popen[bytes] | None = None) -> None:
        """Stop the server with a fast shutdown, which ends its connections."""
        found = running_postmaster(self.folder)
        if found is not None:
            os.kill(found.pid, signal.SIGINT)  # fast shutdown
        if process is not None:
            process.wait(_STOP_SECONDS)
        elif found is not None:
            self._wait_gone(found.pid)

    def _try_start(
        self, port: int, deadline: float
    ) -> tuple[Postmaster, subprocess.Popen[bytes]] | str:
        """Start the server once; return its error if it ended."""
        remove_stale_pid_file(self.folder)
        if not is_free(port):
            return _PORT_TAKEN[0]
        self._turn_log()
        said_before = self.log.stat().st_size if self.log.exists() else 0
        descriptor = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            command = [self.binaries.program("postgres"), "-D", str(self.folder), "-p", str(port)]
            process = self.account.spawn(command, log=descriptor)
        finally:
            os.close(descriptor)
        while time.monotonic() < deadline:
            found = running_postmaster(self.folder)
            if found is not None and found.is_ready:
                return found, process
            if process.poll() is not None:
                return self.log.read_bytes()[said_before:].decode(errors="replace")
            time.sleep(_POLL_SECONDS)
        process.kill()
        process.wait()
        return "it was not ready in time"

    def _initdb(self, target: Path, password: Path) -> list[str]:
        return [
            self.binaries.program("initdb"),
            f"--pgdata={target}",
            f"--username={SUPERUSER}",
            f"--pwfile={password}",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            *_locale(self.binaries.major),
        ]

    def _add_settings(self, target: Path) -> None:
        settings = {**_usual_settings(), **self.settings}
        lines = [f"{name} = '{value}'" for name, value in settings.items()]
        text = "\n# Set by mailqueue when this cluster was made; they may be changed.\n"
        # Written as the server's user: root may lack permission to write to that user's folder.
        file = str(target / "postgresql.conf")
        append = ["/bin/sh", "-c", 'cat >> "$0"', file]
        self._checked(append, text=text + "\n".join(lines) + "\n")

    def _checked(self, command: list[str], *, text: str = "") -> None:
        done = self.account.run(command, text=text)
        if done.returncode != 0:
            raise self._failed(done.stderr or done.stdout)

    def _failed(self, output: str) -> Unavailable:
        lines = [line for line in output.splitlines() if line.strip()] or ["no output"]
        fatal = [line for line in lines if "FATAL" in line or "error:" in line]
        return Unavailable(
            f"the embedded PostgreSQL in {self.folder} did not start: "
            f"{(fatal or lines)[-1].strip()} (its log: {self.log})"
        )

    def _last_port(self) -> int:
        """Return the last used port, so that client settings stay valid; else a free one."""
        try:
            words = (self.folder / "postmaster.opts").read_text("utf-8").split('"')
        except FileNotFoundError:
            return free_port()
        port = words[words.index("-p") + 2] if "-p" in words else ""
        return int(port) if port.isdigit() else free_port()

    def _turn_log(self) -> None:
        if self.log.exists() and self.log.stat().st_size > _LOG_BYTES:
            self.log.rename(self.log.with_suffix(".log.old"))

    def _wait_gone(self, pid: int) -> None:
        deadline = time.monotonic() + _STOP_SECONDS
        while is_server_of(pid, self.folder):
            if time.monotonic() > deadline:
                raise Unavailable(f"the embedded PostgreSQL (pid {pid}) does not stop")
            time.sleep(_POLL_SECONDS)


def _usual_settings() -> dict[str, str]:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    shared = max(128, min(memory // 4 // _MIB, 512))
    return {
        "listen_addresses": HOST,
        "unix_socket_directories": "",
        "max_connections": "200",
        "shared_buffers": f"{shared}MB",
        "max_wal_size": "4GB",
        "log_checkpoints": "off",
        "jit": "off",
        "timezone": "UTC",
        "log_timezone": "UTC",
        "lc_messages": "C",
    }


def _locale(major: int) -> list[str]:
    """Return options for a locale that folds letters of all scripts and sorts by code point.

    Addresses are compared by the folded text.
    """
    if major >= 17:
        return ["--locale-provider=builtin", "--locale=C.UTF-8"]
    before = locale.setlocale(locale.LC_CTYPE)
    try:
        locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
    except locale.Error:
        return ["--locale=C"]  # the only locale that every system has
    finally:
        locale.setlocale(locale.LC_CTYPE, before)
    return ["--locale=C.UTF-8"]
