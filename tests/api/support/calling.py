"""The application on a database of one test, called without a port."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2

from mailqueue.api.app import create_app
from mailqueue.db.pool import Pool, borrow, open_pool
from mailqueue.db.replica import open_replica
from mailqueue.projects.keys.manage import issue_key
from mailqueue.settings.environment import DatabaseSettings, Settings, load_settings
from mailqueue.wiring.api import build_services
from tests import make

ORIGIN = "http://127.0.0.1:8025"
MANY = 100_000
HELLO = {"to": ["ann@example.com"], "subject": "Hello", "text_body": "Hello Ann"}


@dataclass(frozen=True, slots=True)
class Calling:
    """The client, the pool behind the application, and a live key of project `default`."""

    http: httpx2.AsyncClient
    pool: Pool
    database: DatabaseSettings
    key: str

    async def send(self, body: Any = HELLO, **headers: str) -> httpx2.Response:
        given = {"X-API-Key": self.key} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        content = {"content": body} if isinstance(body, bytes) else {"json": body}
        return await self.http.post("/v1/send", headers=given, **content)

    async def get(self, path: str, key: str | None = None) -> httpx2.Response:
        return await self.http.get(path, headers={"X-API-Key": key or self.key})

    async def post(
        self, path: str, body: Any = None, *, key: str | None = None, **headers: str
    ) -> httpx2.Response:
        given = {"X-API-Key": key or self.key} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        content = {"content": body} if isinstance(body, bytes) else {"json": body or {}}
        return await self.http.post(path, headers=given, **content)

    async def put(self, path: str, body: Any, *, key: str | None = None) -> httpx2.Response:
        return await self.http.put(path, json=body, headers={"X-API-Key": key or self.key})

    async def delete(self, path: str, *, key: str | None = None) -> httpx2.Response:
        return await self.http.delete(path, headers={"X-API-Key": key or self.key})


def settings_for(database: DatabaseSettings, **options: Any) -> Settings:
    settings = load_settings(data=Path("/nonexistent"), **options)
    return replace(settings, database=database)


@asynccontextmanager
async def calling(database: DatabaseSettings, **options: Any) -> AsyncIterator[Calling]:
    async with (
        open_pool(database, is_required=False) as pool,
        open_replica(database) as replica,
    ):
        async with borrow(pool, database) as conn:
            await make.sender_account(conn, name="relay")
            issued = await issue_key(
                conn, "default", "tests", is_test=False, requests_per_second=MANY
            )
        settings = settings_for(database, **options)
        services = build_services(settings, pool)
        app = create_app(settings, pool, services=services, replica=replica)
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as http:
            yield Calling(http, pool, database, issued.key.reveal())


def error_of(response: httpx2.Response) -> dict[str, Any]:
    """Return an error after checking the form that all errors have."""
    document: dict[str, Any] = response.json()
    assert {"statusCode", "name", "message", "request_id"} <= set(document)
    assert document["statusCode"] == response.status_code
    assert document["request_id"] == response.headers["x-request-id"]
    return document
