"""The server, the databases and the guards of all tests."""

import asyncio
import os
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import hypothesis
import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.migrate import migrate
from mailqueue.db.pool import connect
from mailqueue.db.provision import provision
from mailqueue.embedded.binaries import find_binaries
from mailqueue.embedded.cluster import Cluster
from mailqueue.embedded.service_user import Account, service_account
from mailqueue.settings.environment import DatabaseSettings, Pooler
from tests import container, costs, garbage, logged, make, needs, scratch, tiers
from tests.databases import PLAIN, Databases, compact
from tests.poolers.option import OPTION, go_through, is_pooled
from tests.poolers.pgbouncer import bouncing

ROLE = "mailqueue_test"
TEMPLATE = "MAILQUEUE_TEST_TEMPLATE"
"""Names a migrated database of MAILQUEUE_TEST_DSN: only what it lacks is applied to a copy."""
# Speed for clusters that are thrown away; tests that kill a server make their own, as shipped.
THROWAWAY = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_wal_size": "256MB",
}

# How long an example takes tells of the machine; the same examples judge each change.
hypothesis.settings.register_profile(
    "mailqueue",
    deadline=None,
    derandomize=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("mailqueue")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--server-version", type=int, help="major version of PostgreSQL to run on")
    parser.addoption(container.OPTION, help="run on this image of PostgreSQL, such as postgres:17")
    parser.addoption(
        "--scale", type=int, default=1, help="how many times larger backlogs are; 20: a million"
    )
    parser.addoption(OPTION, action="store_true", help="go through PgBouncer, transaction mode")
    tiers.add_option(parser)
    parser.addoption(
        needs.REQUIRE, action="append", default=[], help="a marker whose tests may not be left out"
    )


def pytest_configure(config: pytest.Config) -> None:
    for plugin in (garbage, needs, logged, tiers, costs):
        config.pluginmanager.register(plugin)
    scratch.keep_in_memory()
    # Ignored in a shell's background and under nohup, and then by processes that tests signal.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    sys.addaudithook(_only_loopback)
    for name in {*os.environ} - {"MAILQUEUE_TEST_DSN", TEMPLATE}:
        if name.startswith(("MAILQUEUE_", "PG", "DATABASE_URL")):
            del os.environ[name]
    if is_pooled(config):
        go_through()


def pytest_report_header(config: pytest.Config) -> str | None:
    """Name the container image the tests run on."""
    image = config.getoption(container.OPTION)
    return f"PostgreSQL: container of {image}" if image else None


def _only_loopback(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse connections beyond this machine, and names that need a name server."""
    if event in ("socket.connect", "socket.sendto"):
        _refuse_far(arguments[1])
    elif event == "socket.getaddrinfo" and _is_far_name(arguments[0]):
        raise socket.gaierror(socket.EAI_NONAME, f"tests ask no name server for {arguments[0]!r}")


def _refuse_far(address: object) -> None:
    if isinstance(address, tuple) and _is_far_name(address[0]):
        raise PermissionError(f"tests stay on loopback, not {address[0]}")


def _is_far_name(host: object) -> bool:
    name = host.decode() if isinstance(host, bytes) else str(host or "localhost")
    return name not in ("localhost", "::1", "::", "0.0.0.0") and not name.startswith("127.")


@dataclass(frozen=True, slots=True)
class Server:
    """The PostgreSQL the tests run on; `superuser` names its maintenance database.

    `pooler` is the port of the pooler in a run with the option --pooler.
    """

    superuser: str
    pooler: int | None = None

    def url(self, database: str) -> str:
        """Return the connection string of ROLE, which has the rights of the role of `up`."""
        return _with(self.superuser, database, f"{ROLE}:{ROLE}", port=self.pooler)

    def direct_url(self, database: str) -> str:
        """Return the same past any pooler."""
        return _with(self.superuser, database, f"{ROLE}:{ROLE}")

    def superuser_url(self, database: str) -> str:
        return _with(self.superuser, database)


def _with(url: str, database: str, login: str | None = None, *, port: int | None = None) -> str:
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    if port is not None:
        host = f"127.0.0.1:{port}"
    netloc = f"{login}@{host}" if login else parts.netloc
    return urlunsplit(parts._replace(netloc=netloc, path=f"/{database}"))


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def service_user() -> Account:
    return service_account(None)


@pytest.fixture(scope="session")
def reachable_folder(service_user: Account) -> Iterator[Path]:
    """A fresh folder that the server's user can enter, also when the tests run as root."""
    with tempfile.TemporaryDirectory(
        prefix="mailqueue-test-", dir=_shared_tmp(service_user)
    ) as name:
        folder = Path(name)
        folder.chmod(0o755 if not service_user.is_me else 0o700)
        yield folder


def _shared_tmp(account: Account) -> str | None:
    if account.can_enter(Path(tempfile.gettempdir())):
        return None
    return next(each for each in ("/tmp", "/var/tmp") if account.can_enter(Path(each)))


@pytest.fixture(scope="session")
def server(
    request: pytest.FixtureRequest,
    bare_server: Server,
    reachable_folder: Path,
    service_user: Account,
) -> Iterator[Server]:
    """A server, with a pooler before it in a run with the option --pooler."""
    if not is_pooled(request.config):
        yield bare_server
        return
    with bouncing(bare_server.superuser, reachable_folder / "pooler", service_user) as port:
        yield replace(bare_server, pooler=port)


@pytest.fixture(scope="session")
def bare_server(
    request: pytest.FixtureRequest, reachable_folder: Path, service_user: Account
) -> Iterator[Server]:
    """A server: MAILQUEUE_TEST_DSN (of a superuser), a container, else a temporary cluster."""
    given = os.environ.get("MAILQUEUE_TEST_DSN")
    if given:
        yield _with_role(Server(given))
        return
    if image := request.config.getoption(container.OPTION):
        with _contained(image) as url:
            yield _with_role(Server(url))
        return
    found = find_binaries(request.config.getoption("--server-version"))
    home = reachable_folder / "server"
    home.mkdir()
    home.chmod(0o755)
    if not service_user.can_enter(found.bin / "postgres"):
        found = found.copied(home / "postgresql")
    settings = {**THROWAWAY, **scratch.settings(found.major)}
    cluster = Cluster(home.resolve(), found, service_user, settings)
    cluster.make()
    postmaster, process = cluster.start()
    try:
        yield _with_role(Server(cluster.superuser_url(postmaster.port)))
    finally:
        with costs.ending_server():
            cluster.stop(process)


@contextmanager
def _contained(image: str) -> Iterator[str]:
    try:
        with container.postgresql_of(image, THROWAWAY) as url:
            yield url
    except container.NoEngine as error:
        pytest.exit(str(error), returncode=pytest.ExitCode.USAGE_ERROR)


@pytest.fixture(scope="session")
def databases(server: Server) -> Iterator[Databases]:
    """What creates the databases of the tests."""
    made = Databases(server.superuser, ROLE)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture(scope="session")
def migrated(server: Server, databases: Databases) -> Iterator[str]:
    """The name of a migrated database without connections, the template of all others."""
    with databases.lent(template=os.environ.get(TEMPLATE, PLAIN)) as name:
        asyncio.run(_migrate(server, name))
        compact(server.superuser_url(name))
        yield name


@pytest.fixture(scope="session")
def shared_db(server: Server, databases: Databases, migrated: str) -> Iterator[str]:
    """The connection string of a migrated database for tests that leave nothing behind."""
    with databases.lent(template=migrated) as name:
        yield server.url(name)


@pytest.fixture
def fresh_db(server: Server, databases: Databases, migrated: str) -> Iterator[str]:
    """The connection string of a migrated database for one test."""
    with databases.lent(template=migrated) as name:
        yield server.url(name)


@pytest.fixture(scope="module")
def module_db(server: Server, databases: Databases, migrated: str) -> Iterator[str]:
    """The connection string of a migrated database that the tests of one file share."""
    with databases.lent(template=migrated) as name:
        yield server.url(name)


@pytest.fixture
def empty_db(server: Server, databases: Databases) -> Iterator[str]:
    """The connection string of an empty database."""
    with databases.lent() as name:
        yield server.url(name)


@pytest.fixture
def database(fresh_db: str) -> DatabaseSettings:
    """The settings of `fresh_db`."""
    return DatabaseSettings(Secret(fresh_db))


@pytest.fixture(scope="module")
async def shared_conn(shared_db: str) -> AsyncIterator[Conn]:
    """A connection that the tests of one file share."""
    async with connect(DatabaseSettings(Secret(shared_db)), application_name="test") as opened:
        yield opened


@pytest.fixture
async def conn(shared_conn: Conn) -> AsyncIterator[Conn]:
    """A connection whose transaction is rolled back."""
    async with shared_conn.transaction(force_rollback=True):
        yield shared_conn


def _with_role(server: Server) -> Server:
    """Create ROLE if necessary, with the rights that `mailqueue up` gives its role."""
    superuser = DatabaseSettings(Secret(server.superuser))
    asyncio.run(provision(superuser, role=ROLE, password=ROLE, database=ROLE))
    return server


async def _migrate(server: Server, name: str) -> None:
    database = DatabaseSettings(Secret(server.direct_url(name)), pooler=Pooler.NONE)
    await migrate(database)
    async with connect(database) as conn:  # no task becomes due while tests run
        await conn.execute(make.NOTHING_DUE)
        await conn.execute(make.PROJECT_FROM_BEFORE)
