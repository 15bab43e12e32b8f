"""Runs `mailqueue` as its users do: real processes, observed from outside."""

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import psycopg

from mailqueue.embedded.binaries import find_binaries
from mailqueue.embedded.service_user import Account

T = TypeVar("T")

ROOT = Path(__file__).resolve().parents[2]
ANY_PORT = ("--port", "0", "--trap-port", "0", "--submission-port", "0")
START_SECONDS = 150
STOP_SECONDS = 60
RUN_SECONDS = 150


@dataclass(frozen=True, slots=True)
class Home:
    """A data folder, and the environment, Python and user with which commands run on it."""

    data: Path
    variables: Mapping[str, str]
    python: str = sys.executable
    account: Account | None = None  # ourselves

    def environment(self) -> dict[str, str]:
        """Return the environment of a user's shell, without that of the test run."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        own = {"MAILQUEUE_DATA": str(self.data), "PYTHONPATH": str(ROOT)}
        return kept | own | dict(self.variables)

    def command(self, *words: str) -> list[str]:
        return [self.python, "-m", "mailqueue", *words]

    def user(self) -> dict[str, Any]:
        """Return the arguments of subprocess that run a process as another user."""
        if self.account is None:
            return {}
        return {"user": self.account.uid, "group": self.account.gid, "extra_groups": []}

    def run(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(
            self.command(*words),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            env=self.environment() | variables,
            timeout=RUN_SECONDS,
            **self.user(),
        )

    def json(self, *words: str, **variables: str) -> Any:
        """Run a command that must succeed with --json and return its document."""
        done = self.run(*words, "--json", **variables)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def with_(self, **variables: str) -> "Home":
        """Return the same with further variables."""
        return Home(self.data, {**self.variables, **variables}, self.python, self.account)


class Up:
    """A running `mailqueue up --json`."""

    def __init__(self, home: Home, process: subprocess.Popen[str], log: Path) -> None:
        self.home, self.process, self.log = home, process, log
        self.first_line = self._line()
        self.ready: dict[str, Any] = json.loads(self.first_line)
        self.database: str = self.ready["database"]
        self._conn: psycopg.Connection[tuple[Any, ...]] | None = None

    def _line(self) -> str:
        assert self.process.stdout is not None
        readable, _, _ = select.select([self.process.stdout], [], [], START_SECONDS)
        line = self.process.stdout.readline() if readable else ""
        if not line:
            self.process.kill()
            raise AssertionError(f"`up` did not get ready:\n{self.log.read_text()}")
        return line

    def rows(self, query: str, *params: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query, run as the database's owner in its own transaction."""
        if self._conn is None or self._conn.broken or self._conn.closed:
            self._conn = psycopg.connect(self.database, autocommit=True)
        return self._conn.execute(query.encode(), params or None).fetchall()

    def value(self, query: str, *params: object) -> Any:
        return self.rows(query, *params)[0][0]

    def close(self) -> None:
        """Close the connection of the tests."""
        if self._conn is not None:
            self._conn.close()

    def psql(self, statements: str) -> str:
        """Run statements with psql; return its output."""
        done = subprocess.run(
            [find_binaries().program("psql"), "-XqAt", "-v", "ON_ERROR_STOP=1", self.database],
            input=statements,
            capture_output=True,
            text=True,
            check=False,
            env={"PATH": os.environ["PATH"], "PGCLIENTENCODING": "UTF8"},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def caught(self, domain: str) -> list[bytes]:
        """Return the caught messages to recipients of a domain, oldest first."""
        query = "SELECT raw FROM mailqueue.trap_messages WHERE rcpt_to[1] LIKE %s ORDER BY id"
        return [bytes(row[0]) for row in self.rows(query, f"%@{domain}")]

    def count_caught(self, domain: str) -> int:
        query = "SELECT count(*) FROM mailqueue.trap_messages WHERE rcpt_to[1] LIKE %s"
        found: int = self.value(query, f"%@{domain}")
        return found

    def hasten(self) -> int:
        """Make mail due that waits for its next attempt; return the number of mails."""
        return len(
            self.rows(
                "WITH due AS (UPDATE mailqueue.email_queue SET run_at = now()"
                " WHERE run_at > now() RETURNING lane_id)"
                " INSERT INTO mailqueue.lane_signals (lane_id, due_at)"
                " SELECT lane_id, now() FROM due RETURNING lane_id"
            )
        )

    def workers(self) -> list[int]:
        """Return the process ids of running send workers, in the order they started."""
        return [pid for pid, kind in self._processes() if kind == "send"]

    def children(self) -> list[int]:
        """Return the process ids of all running workers, including those of queues."""
        return [pid for pid, _ in self._processes()]

    def _processes(self) -> list[tuple[int, str]]:
        query = "SELECT pid, kind FROM mailqueue.worker_status WHERE status = 'running' ORDER BY id"
        return [(row[0], row[1]) for row in self.rows(query)]

    def postmaster(self) -> int:
        return int((self.home.data / "pgdata" / "postmaster.pid").read_text().split()[0])

    def stop(self, signal_number: int = signal.SIGTERM) -> int:
        """Stop it with SIGTERM; return its exit code."""
        self.close()
        self.process.send_signal(signal_number)
        return self.process.wait(STOP_SECONDS)

    def kill(self) -> None:
        """Kill it, and stop the PostgreSQL that it leaves behind."""
        self.close()
        postmaster = self.postmaster()
        self.process.kill()
        self.process.wait()
        os.kill(postmaster, signal.SIGINT)
        eventually(lambda: not is_running(postmaster))

    def rest_of_stdout(self) -> str:
        """Return its output after the first line, once it has ended."""
        assert self.process.stdout is not None
        return self.process.stdout.read()


@contextmanager
def up(home: Home, *words: str, **options: Any) -> Iterator[Up]:
    """Run `mailqueue up --json` until the block ends, unless it ends before.

    `options` are those of subprocess.
    """
    log = home.data.with_name(home.data.name + ".log")
    with log.open("a") as errors:
        process = subprocess.Popen(
            home.command("up", "--json", *ANY_PORT, *words),
            stdout=subprocess.PIPE,
            text=True,
            cwd="/",
            env=home.environment(),
            **{"stdin": subprocess.DEVNULL, "stderr": errors, **home.user(), **options},
        )
    try:
        running = Up(home, process, log)
        try:
            yield running
        finally:
            running.close()
    finally:
        _end(process)


@contextmanager
def workers(home: Home, *, processes: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run `mailqueue worker send` beside `up` until the block ends."""
    process = subprocess.Popen(
        home.command("worker", "send", "--processes", str(processes)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env=home.environment(),
        **home.user(),
    )
    try:
        yield process
    finally:
        _end(process)


def _end(process: subprocess.Popen[Any]) -> None:
    """Stop a process if it still runs; kill it only if it does not."""
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise
    finally:
        if process.stdout is not None:
            process.stdout.close()


def eventually(
    look: Callable[[], T], wanted: Callable[[T], bool] = bool, *, seconds: float = 150
) -> T:
    """Poll until a value is as wanted; return the last value.

    Looking takes little of the time: the rest belongs to those who are waited for.
    """
    deadline = time.monotonic() + seconds
    while True:
        looked_at = time.monotonic()
        seen = look()
        if wanted(seen):
            return seen
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {seen!r}"[:2000])
        time.sleep(min(0.5, max(0.02, 4 * (time.monotonic() - looked_at))))


def is_running(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        state = re.sub(r"^.*\) ", "", Path(f"/proc/{pid}/stat").read_text())
    except (FileNotFoundError, ProcessLookupError):
        return False
    return not state.startswith("Z")


def has_started(pids: list[int]) -> bool:
    """Return whether two send workers and the process of the queues have started."""
    return len(pids) >= 3
