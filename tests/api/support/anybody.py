"""The application as a caller may ask it anything: a key for everything, and administrators."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import httpx2

from mailqueue.api.app import create_app
from mailqueue.core.secret import Secret
from mailqueue.db.pool import connect, open_pool
from mailqueue.projects.keys.manage import issue_key
from mailqueue.projects.model import Admin
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.settings.nameserver import NameServer
from mailqueue.wiring.api import build_services
from tests import make
from tests.api.support.calling import ORIGIN, settings_for
from tests.api.support.wired import MASTER


@asynccontextmanager
async def for_anybody(url: str) -> AsyncIterator[httpx2.AsyncClient]:
    """Yield a client with a live key for everything; any token is an administrator's.

    An unexpected error of the application is raised in the test.
    """
    database = DatabaseSettings(Secret(url))
    given = replace(
        settings_for(database),
        master_key=Secret(MASTER),
        name_servers=(NameServer("127.0.0.1", 9),),
    )
    async with connect(database) as conn:
        await make.sender_account(conn, name="relay")
        issued = await issue_key(
            conn, "default", "tests", is_test=False, requests_per_second=1_000_000
        )

    async def anybody(token: str) -> Admin:
        return Admin(token, "token")

    async with open_pool(database, is_required=False) as pool:
        services = replace(build_services(given, pool), admin_of=anybody)
        app = create_app(given, pool, services=services)
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=True)
        async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as client:
            client.headers["X-API-Key"] = issued.key.reveal()
            yield client
