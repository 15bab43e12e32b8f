"""A PostgreSQL with default settings: durable, so that it may be killed."""

import asyncio
import secrets
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from mailqueue.core.secret import Secret
from mailqueue.db.migrate import migrate
from mailqueue.db.provision import provision
from mailqueue.embedded.binaries import find_binaries
from mailqueue.embedded.cluster import Cluster
from mailqueue.embedded.postmaster import Postmaster
from mailqueue.embedded.service_user import Account
from mailqueue.settings.environment import DatabaseSettings, Pooler
from tests import scratch
from tests.concurrency.running import Shipped
from tests.poolers.option import is_pooled
from tests.poolers.pgbouncer import bouncing

ROLE = "mailqueue_kills"


@pytest.fixture(scope="session")
def shipped(
    request: pytest.FixtureRequest, reachable_folder: Path, service_user: Account
) -> Iterator[Shipped]:
    """A cluster for the tests of this folder, which they may kill."""
    found = find_binaries(request.config.getoption("--server-version"))
    home = reachable_folder / "shipped"
    home.mkdir()
    home.chmod(0o755)
    if not service_user.can_enter(found.bin / "postgres"):
        found = found.copied(home / "postgresql")
    cluster = Cluster(home.resolve(), found, service_user)
    cluster.make()
    made = Shipped(cluster)
    superuser = DatabaseSettings(Secret(cluster.superuser_url(made.start().port)))
    asyncio.run(provision(superuser, role=ROLE, password=ROLE, database=ROLE))
    try:
        yield made
    finally:
        made.stop()


@pytest.fixture(scope="session")
def pooler_port(
    request: pytest.FixtureRequest, shipped: Shipped, reachable_folder: Path, service_user: Account
) -> Iterator[int | None]:
    """The port of a pooler before that cluster, with the option --pooler."""
    if not is_pooled(request.config):
        yield None
        return
    superuser = shipped.cluster.superuser_url(shipped.start().port)
    with bouncing(superuser, reachable_folder / "shipped-pooler", service_user) as port:
        yield port


@pytest.fixture(scope="session")
def migrated_there(shipped: Shipped) -> str:
    """The name of a migrated database on that cluster, the template of all others."""
    port, name = _make_database(shipped, template="template0")
    asyncio.run(migrate(DatabaseSettings(Secret(_url(port, name)), pooler=Pooler.NONE)))
    return name


@pytest.fixture
def durable(
    shipped: Shipped, migrated_there: str, pooler_port: int | None
) -> Iterator[DatabaseSettings]:
    """A migrated database for one test on the durable cluster."""
    port, name = _make_database(shipped, template=migrated_there)
    yield DatabaseSettings(Secret(_url(pooler_port or port, name)))
    gone = sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name))
    with psycopg.connect(_superuser(shipped.start(), shipped), autocommit=True) as admin:
        admin.execute(gone)


def _make_database(shipped: Shipped, *, template: str) -> tuple[int, str]:
    """Create a database on a server that an earlier test may have killed; return port and name."""
    postmaster = shipped.start()
    name = f"mailqueue_{secrets.token_hex(6)}"
    made = sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {} STRATEGY {}").format(
        *map(sql.Identifier, (name, ROLE, template, scratch.strategy()))
    )
    with psycopg.connect(_superuser(postmaster, shipped), autocommit=True) as admin:
        admin.execute(made)
    return postmaster.port, name


def _superuser(postmaster: Postmaster, shipped: Shipped) -> str:
    return shipped.cluster.superuser_url(postmaster.port)


def _url(port: int, name: str) -> str:
    return f"postgresql://{ROLE}:{ROLE}@127.0.0.1:{port}/{name}"
