"""A primary and its synchronous standby, from the same programs; the primary may be killed."""

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg

from mailqueue.core.secret import Secret
from mailqueue.db.provision import provision
from mailqueue.embedded.binaries import Binaries
from mailqueue.embedded.cluster import Cluster
from mailqueue.embedded.folder import write_private
from mailqueue.embedded.ports import free_port
from mailqueue.embedded.service_user import Account
from mailqueue.settings.environment import DatabaseSettings
from tests.chaos.server import reachable_folder
from tests.whole.running import eventually, is_running

ROLE = NAME = "mailqueue_failover"
_STANDBY = "standby"  # how a standby names itself to its primary


@dataclass
class Node:
    """One server of the pair, always on the same port."""

    cluster: Cluster
    port: int
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        postmaster, started = self.cluster.start(self.port)
        assert postmaster.port == self.port, "another program took its port"
        self.process = started or self.process

    def stop(self) -> None:
        self.cluster.stop(self.process)
        self.process = None

    def kill(self) -> None:
        """Kill the server and all its processes, as the loss of its machine would."""
        assert self.process is not None
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for each in (pid, *map(int, children)):
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        self.process.wait()
        self.process = None
        eventually(lambda: not any(is_running(int(child)) for child in children))

    def superuser(self, database: str = "postgres") -> str:
        return self.cluster.superuser_url(self.port, database)

    def ask(self, query: str) -> object:
        """Run a statement as the superuser; return the first column of its row, if any."""
        with psycopg.connect(self.superuser(), autocommit=True) as conn:
            cursor = conn.execute(query.encode())
            row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None


@dataclass
class Pair:
    """Two nodes that can exchange their roles."""

    primary: Node
    standby: Node

    @property
    def database(self) -> DatabaseSettings:
        """Return a connection string with both, always in the same order."""
        ports = sorted((self.primary.port, self.standby.port))
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
        return DatabaseSettings(Secret(f"postgresql://{ROLE}:{ROLE}@{hosts}/{NAME}"))

    def follow(self) -> None:
        """Create the standby anew from the primary, and make commits wait for it."""
        node, folder = self.standby, self.standby.cluster.folder
        shutil.rmtree(folder, ignore_errors=True)
        backup = node.cluster.account.run(
            [
                node.cluster.binaries.program("pg_basebackup"),
                f"--pgdata={folder}",
                f"--dbname={self.primary.superuser()}",
                "--checkpoint=fast",
                "--wal-method=stream",
                "--no-sync",
            ]
        )
        assert backup.returncode == 0, backup.stderr
        self._tell_whom_to_follow(folder)
        node.start()
        self.primary.ask(f"ALTER SYSTEM SET synchronous_standby_names = '{_STANDBY}'")
        self.primary.ask("SELECT pg_reload_conf()")
        eventually(self._is_synchronous)

    def promote(self) -> None:
        """Promote the standby."""
        assert self.standby.ask("SELECT pg_promote(true, 60)") is True
        self.primary, self.standby = self.standby, self.primary

    def _tell_whom_to_follow(self, folder: Path) -> None:
        primary = self.primary.superuser(f"?application_name={_STANDBY}")
        # Its own alone: what the primary was told about standbys is not the standby's.
        text = f"primary_conninfo = '{primary}'\n"
        for name, content in (("postgresql.auto.conf", text), ("standby.signal", "")):
            write_private(folder / name, content)
            self.standby.cluster.account.own(folder / name)

    def _is_synchronous(self) -> bool:
        states = "SELECT string_agg(sync_state, ' ') FROM pg_stat_replication"
        return self.primary.ask(states) == "sync"


@contextmanager
def pair(binaries: Binaries, account: Account) -> Iterator[Pair]:
    """Run a pair, with an empty database that waits for its standby at every commit."""
    with reachable_folder() as folder:
        if not account.can_enter(binaries.bin / "postgres"):
            binaries = binaries.copied(folder / "postgresql")
        one, other = (_node(folder / name, binaries, account) for name in ("one", "other"))
        shutil.copy(one.cluster.home / "superuser_password", other.cluster.home)
        one.cluster.make()
        made = Pair(one, other)
        try:
            one.start()
            _provision(one)
            made.follow()
            yield made
        finally:
            for node in (one, other):
                node.stop()


def _node(home: Path, binaries: Binaries, account: Account) -> Node:
    home.mkdir()
    # Its user makes the folder of the copy here.
    account.own(home)
    # Its processes are killed, not its machine: what counts is what the standby was told.
    settings = {"fsync": "off", "shared_buffers": "32MB", "max_wal_size": "256MB"}
    cluster = Cluster(home, binaries, account, settings)
    cluster.superuser_password()
    return Node(cluster, free_port())


def _provision(node: Node) -> None:
    superuser = DatabaseSettings(Secret(node.superuser()))
    asyncio.run(provision(superuser, role=ROLE, password=ROLE, database=NAME))
