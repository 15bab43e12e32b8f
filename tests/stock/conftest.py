"""A server of Debian's packages, and databases on it that log their plans."""

import asyncio
import secrets
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from mailqueue.core.secret import Secret
from mailqueue.db.migrate import migrate
from mailqueue.db.pool import connect
from mailqueue.db.provision import provision
from mailqueue.embedded.service_user import Account
from mailqueue.settings.environment import DatabaseSettings, Pooler
from tests.conftest import ROLE, Server
from tests.stock.debian import debian_server
from tests.stock.plans import watch
from tests.stock.workload import grow, set_up


@pytest.fixture(scope="session")
def debian(reachable_folder: Path, service_user: Account) -> Iterator[Server]:
    with debian_server(reachable_folder / "debian", service_user) as superuser:
        yield Server(superuser)


@pytest.fixture(scope="session")
def documented(debian: Server) -> str:
    """The name of a database set up by the documented commands, the template of all others."""
    name = f"mailqueue_{secrets.token_hex(6)}"
    asyncio.run(_migrate(debian, name))
    return name


@pytest.fixture(scope="module")
def migrated_stock(debian: Server, documented: str) -> DatabaseSettings:
    """A database set up by the documented commands."""
    return _copy(debian, documented, f"mailqueue_{secrets.token_hex(6)}")


@pytest.fixture(scope="module", params=["new", "grown"])
async def stock(
    request: pytest.FixtureRequest, debian: Server, documented: str
) -> DatabaseSettings:
    """A database set up by the documented commands, empty and with rows."""
    name = f"mailqueue_{secrets.token_hex(6)}"
    settings = _copy(debian, documented, name)
    async with connect(settings) as conn:
        await set_up(conn)
        if request.param == "grown":
            await grow(conn)
    with psycopg.connect(debian.superuser, autocommit=True) as admin:
        for each in watch(name):
            admin.execute(each)
    return settings


async def _migrate(debian: Server, name: str) -> None:
    superuser = DatabaseSettings(Secret(debian.superuser), pooler=Pooler.NONE)
    await provision(superuser, role=ROLE, password=ROLE, database=name)
    await migrate(_settings(debian, name))


def _copy(debian: Server, template: str, name: str) -> DatabaseSettings:
    made = sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {}")
    with psycopg.connect(debian.superuser, autocommit=True) as admin:
        admin.execute(made.format(*map(sql.Identifier, (name, ROLE, template))))
    return _settings(debian, name)


def _settings(debian: Server, name: str) -> DatabaseSettings:
    return DatabaseSettings(Secret(debian.direct_url(name)), pooler=Pooler.NONE)
