"""The application with its adapters, a master key and a second project."""

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import httpx2

from mailqueue.api.app import create_app
from mailqueue.core.outbound_guard import IpNetwork
from mailqueue.core.secret import Secret
from mailqueue.db.pool import open_pool
from mailqueue.projects.keys.manage import issue_key
from mailqueue.projects.model import Scope
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.settings.nameserver import NameServer
from mailqueue.wiring.api import build_services
from tests import make
from tests.api.support.calling import ORIGIN, settings_for

CONFIGS = "/v1/projects/shop/smtp-configs"
HIDDEN = "correct horse battery staple"
RELAY: dict[str, Any] = {
    "name": "relay",
    "provider_type": "smtp",
    "credentials": {
        "host": "smtp.example.com",
        "port": 587,
        "username": "user@example.com",
        "password": HIDDEN,
        "tls_mode": "starttls",
    },
}
MASTER = base64.b64encode(bytes(range(32))).decode()


@dataclass(frozen=True, slots=True)
class Wired:
    """A client, its database, and keys: of project `shop`, of another, and one that only reads."""

    http: httpx2.AsyncClient
    database: DatabaseSettings
    project_id: str
    key: str
    other: str
    reads: str

    async def call(
        self, method: str, path: str, body: Any = None, *, key: str | None = None, **headers: str
    ) -> httpx2.Response:
        given = {"X-API-Key": key or self.key}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        more = {} if body is None else {"json": body}
        return await self.http.request(method, path, headers=given, **more)

    async def made(self, **fields: Any) -> dict[str, Any]:
        """Add a sender account like RELAY and return the response."""
        answer = await self.call("POST", CONFIGS, RELAY | fields)
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()
        return found


@asynccontextmanager
async def wired(
    database: DatabaseSettings,
    *,
    allowed_hosts: tuple[IpNetwork, ...] = (),
    name_servers: tuple[NameServer, ...] = (),
) -> AsyncIterator[Wired]:
    """Serve projects `shop` and `other`, neither with a sender account."""
    settings = replace(
        settings_for(database),
        master_key=Secret(MASTER),
        allowed_hosts=allowed_hosts,
        name_servers=name_servers,
    )
    async with open_pool(database, is_required=False) as pool:
        async with pool.connection() as conn:
            project_id = await make.project(conn, "shop")
            await make.project(conn, "other")
            issued = [
                await issue_key(conn, "shop", "all", is_test=False, requests_per_second=10_000),
                await issue_key(conn, "other", "all", is_test=False, requests_per_second=10_000),
                await issue_key(conn, "shop", "reads", is_test=False, scopes=[Scope.PROJECT_READ]),
            ]
        app = create_app(settings, pool, services=build_services(settings, pool))
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=True)
        async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as http:
            keys = [one.key.reveal() for one in issued]
            yield Wired(http, database, str(project_id), *keys)
