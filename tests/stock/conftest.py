"""A server of Debian's packages, and databases on it that log their plans."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

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


@pytest.fixture(scope="module")
async def migrated_stock(debian: Server) -> DatabaseSettings:
    """A database set up by the documented commands."""
    return await _migrated(debian, f"mailqueue_{secrets.token_hex(6)}")


@pytest.fixture(scope="module", params=["new", "grown"])
async def stock(request: pytest.FixtureRequest, debian: Server) -> DatabaseSettings:
    """A database set up by the documented commands, empty and with rows."""
    name = f"mailqueue_{secrets.token_hex(6)}"
    settings = await _migrated(debian, name)
    async with connect(settings) as conn:
        await set_up(conn)
        if request.param == "grown":
            await grow(conn)
    with psycopg.connect(debian.superuser, autocommit=True) as admin:
        for each in watch(name):
            admin.execute(each)
    return settings


async def _migrated(debian: Server, name: str) -> DatabaseSettings:
    superuser = DatabaseSettings(Secret(debian.superuser), pooler=Pooler.NONE)
    await provision(superuser, role=ROLE, password=ROLE, database=name)
    settings = DatabaseSettings(Secret(debian.direct_url(name)), pooler=Pooler.NONE)
    await migrate(settings)
    return settings
