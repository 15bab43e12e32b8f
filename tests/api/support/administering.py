"""The application as administrators call it, on a database of one test."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2

from mailqueue.admin import administrators
from mailqueue.api.app import create_app
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import Pool, open_pool
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.wiring.api import build_services
from tests.api.support.calling import ORIGIN, settings_for


@dataclass(frozen=True, slots=True)
class Administering:
    """The client with the token of administrator ann, and the pool behind the application."""

    http: httpx2.AsyncClient
    pool: Pool
    token: str

    async def __call__(
        self, method: str, path: str, body: Any = None, *, status: int = 200, token: str = ""
    ) -> Any:
        """Send a request below /admin; return the document after checking the status."""
        headers = {"Authorization": f"Bearer {token or self.token}"}
        content = {} if body is None else {"json": body}
        answer = await self.http.request(method, f"/admin{path}", headers=headers, **content)
        assert answer.status_code == status, answer.text
        return answer.json()

    @asynccontextmanager
    async def conn(self) -> AsyncIterator[Conn]:
        async with self.pool.connection() as conn:
            yield conn


@asynccontextmanager
async def administering(database: DatabaseSettings, **options: Any) -> AsyncIterator[Administering]:
    settings = settings_for(database, **options)
    async with open_pool(database, is_required=False) as pool:
        async with pool.connection() as conn:
            made = await administrators.create(conn, "ann", by="root@host")
        app = create_app(settings, pool, services=build_services(settings, pool))
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as http:
            yield Administering(http, pool, made.token.reveal())
