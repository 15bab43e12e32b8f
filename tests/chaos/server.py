"""A PostgreSQL with default settings, with fsync on, that a scenario may kill."""

import asyncio
import secrets
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import psycopg
from psycopg import sql

from mailqueue.core.secret import Secret
from mailqueue.db.migrate import migrate
from mailqueue.db.provision import provision
from mailqueue.embedded.binaries import Binaries, find_binaries
from mailqueue.embedded.cluster import Cluster
from mailqueue.embedded.service_user import Account, service_account
from mailqueue.settings.environment import DatabaseSettings
from tests import scratch
from tests.concurrency.running import Shipped

ROLE = "mailqueue_chaos"


@contextmanager
def reachable_folder() -> Iterator[Path]:
    """Yield a folder that the server's user can enter, also when the tests run as root."""
    account = service_account(None)
    with tempfile.TemporaryDirectory(prefix="mailqueue-chaos-", dir=_base(account)) as name:
        folder = Path(name).resolve()
        folder.chmod(0o700 if account.is_me else 0o755)
        yield folder


@contextmanager
def shipped_in(
    home: Path, *, major: int | None = None, settings: Mapping[str, str] | None = None
) -> Iterator[Shipped]:
    """Run a server with its data in `home`."""
    account = service_account(None)
    home.mkdir(exist_ok=True)
    home.chmod(0o755)
    cluster = Cluster(home, _binaries(home, account, major), account, settings or {})
    cluster.make()
    server = Shipped(cluster)
    superuser = DatabaseSettings(Secret(cluster.superuser_url(server.start().port)))
    asyncio.run(provision(superuser, role=ROLE, password=ROLE, database=ROLE))
    server.template = _migrated(server)
    try:
        yield server
    finally:
        server.stop()


@asynccontextmanager
async def fresh_database(server: Shipped) -> AsyncIterator[DatabaseSettings]:
    """Create a migrated database for one scenario, as a copy of the server's `template`."""
    name = f"chaos_{secrets.token_hex(6)}"
    made = f"CREATE DATABASE {{}} OWNER {{}} TEMPLATE {{}} STRATEGY {scratch.strategy()}"
    port = await asyncio.to_thread(_run, server, made, name, ROLE, server.template)
    database = _database(port, name)
    try:
        yield database
    finally:
        await asyncio.to_thread(_run, server, "DROP DATABASE {} WITH (FORCE)", name)


def _migrated(server: Shipped) -> str:
    """Create a migrated database without sessions, and return its name: migrating costs more than
    a short scenario.
    """
    name = f"chaos_{secrets.token_hex(6)}"
    port = _run(server, "CREATE DATABASE {} OWNER {}", name, ROLE)
    asyncio.run(migrate(_database(port, name), progress=lambda _: None))
    return name


def _database(port: int, name: str) -> DatabaseSettings:
    return DatabaseSettings(Secret(f"postgresql://{ROLE}:{ROLE}@127.0.0.1:{port}/{name}"))


def _run(server: Shipped, statement: str, *names: str) -> int:
    port = server.start().port
    command = sql.SQL(statement).format(*map(sql.Identifier, names))
    with psycopg.connect(server.cluster.superuser_url(port), autocommit=True) as admin:
        admin.execute(command)
    return port


def _base(account: Account) -> str | None:
    if account.can_enter(Path(tempfile.gettempdir())):
        return None
    return next(each for each in ("/tmp", "/var/tmp") if account.can_enter(Path(each)))


def _binaries(home: Path, account: Account, major: int | None) -> Binaries:
    found = find_binaries(major)
    if account.can_enter(found.bin / "postgres"):
        return found
    return found.copied(home.parent / "postgresql")
