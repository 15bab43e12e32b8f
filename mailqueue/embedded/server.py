"""Runs the private PostgreSQL of a data folder for the duration of a block."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from mailqueue.core.secret import Secret
from mailqueue.db.provision import provision
from mailqueue.embedded.binaries import Binaries, find_binaries
from mailqueue.embedded.cluster import CLUSTER_FOLDER, Cluster
from mailqueue.embedded.folder import hold_folder, kept_password, prepare_folder, write_private
from mailqueue.embedded.keeper import keep_running
from mailqueue.embedded.ports import HOST
from mailqueue.embedded.service_user import Account, owner_of, service_account
from mailqueue.settings.environment import DatabaseSettings, DatabaseSource, database_url_file

NAME = "mailqueue"  # of the login role and of the database


@dataclass(frozen=True, slots=True)
class Embedded:
    """A running private server; `was_running` is true if a killed `up` had left it running."""

    database: DatabaseSettings
    port: int
    pid: int
    version: str
    was_running: bool


@asynccontextmanager
async def embedded_server(
    data: Path, *, service_user: str | None = None
) -> AsyncIterator[Embedded]:
    """Lock the data folder and run a server in it; stop the server when the block ends.

    A server that ends unexpectedly is restarted.

    Raises:
        ConfigError: the folder or the service user cannot be used.
        Conflict: another process holds the folder's lock.
        Unavailable: the server does not start.
    """
    data = _one_spelling(data)
    account = _account(data, service_user)
    prepare_folder(data, account)
    with hold_folder(data):
        cluster = Cluster(data, _binaries_for(data, account), account)
        await asyncio.to_thread(cluster.make)
        postmaster, process = await asyncio.to_thread(cluster.start)
        async with keep_running(cluster, process):
            database = await _opened(cluster, postmaster.port)
            yield Embedded(
                database, postmaster.port, postmaster.pid, cluster.binaries.version, process is None
            )


def _one_spelling(data: Path) -> Path:
    """Return the path without links: a running server is recognized by the name of its folder."""
    return data.resolve()


def _account(data: Path, named: str | None) -> Account:
    """Return the named user; an existing cluster is run by its owner."""
    if named is None and os.geteuid() == 0:
        named = owner_of(data / CLUSTER_FOLDER)
    return service_account(named)


def _binaries_for(data: Path, account: Account) -> Binaries:
    """Return programs of the cluster's version that the account can run, copied if necessary."""
    made_with = data / CLUSTER_FOLDER / "PG_VERSION"
    major = int(made_with.read_text("ascii")) if made_with.exists() else None
    found = find_binaries(major)
    if account.can_enter(found.bin / "postgres"):
        return found
    folder = data / "postgresql"
    if not folder.exists():
        folder.mkdir()
        folder.chmod(0o755)
    return found.copied(folder / found.version)


async def _opened(cluster: Cluster, port: int) -> DatabaseSettings:
    """Create role and database, and write the connection string for other commands."""
    password = kept_password(cluster.home / "password")
    superuser = DatabaseSettings(Secret(cluster.superuser_url(port)), DatabaseSource.EMBEDDED)
    await provision(superuser, role=NAME, password=password, database=NAME)
    url = f"postgresql://{NAME}:{password}@{HOST}:{port}/{NAME}"
    write_private(database_url_file(cluster.home), url)
    return DatabaseSettings(Secret(url), DatabaseSource.EMBEDDED)
