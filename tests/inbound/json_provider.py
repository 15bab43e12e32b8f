"""A provider for tests that sends events as JSON, and an application that receives them."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import httpx2

from mailqueue.api.app import create_app
from mailqueue.core.errors import Unavailable
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import Pool, open_pool
from mailqueue.inbound import endpoints
from mailqueue.inbound.endpoints import SecretsChange
from mailqueue.inbound.handler import InboundHandler, InboundTools
from mailqueue.inbound.model import NewRequest
from mailqueue.inbound.store import keep
from mailqueue.ports.inbound import (
    BadEvent,
    InboundRequest,
    NotVerified,
    ProviderEvent,
    VerificationSecrets,
    Verified,
)
from mailqueue.senders import accounts
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.vault.masterkey import MasterKey
from mailqueue.wiring.api import build_services
from tests import make
from tests.api.support.calling import ORIGIN, settings_for
from tests.queue.working import work_once

MASTER = MasterKey(bytes(range(32)))


@dataclass(frozen=True, slots=True)
class Honest:
    """Verifies a secret in a header, and returns a list of events."""

    name: str = "sendgrid"
    max_bytes: int = 2000
    is_away: bool = False

    async def verify(
        self,
        request: InboundRequest,
        secrets: VerificationSecrets,
        now: datetime,  # noqa: ARG002
    ) -> Verified | NotVerified:
        if self.is_away:
            raise Unavailable("the key cannot be fetched")
        if request.headers.get("x-secret") not in secrets.signing:
            return NotVerified("the secret is wrong")
        return Verified(request.headers.get("webhook-id"))

    def events(self, request: InboundRequest) -> Sequence[ProviderEvent | BadEvent]:
        told = json.loads(request.body)
        if told == "poison":
            raise RecursionError("too deep")
        return [_event(one) for one in told]


def _event(one: Any) -> ProviderEvent | BadEvent:
    if not isinstance(one, dict):
        return BadEvent(f"{one!r} is no event")
    if "email_id" in one:
        one = one | {"email_id": UUID(one["email_id"])}
    return ProviderEvent(**({"kind": one.get("type") or "odd", "type": None} | one))


@dataclass(slots=True)
class Confirming:
    """Requests that its URL is confirmed."""

    answer: bytes | None = b""
    is_away: bool = False
    fetched: list[str] = field(default_factory=list)

    async def __call__(self, url: str) -> bytes | None:
        self.fetched.append(url)
        if self.is_away:
            raise Unavailable("nobody answers")
        return self.answer


@dataclass(frozen=True, slots=True)
class InboundClient:
    """The application, and the URL of one account."""

    http: httpx2.AsyncClient
    url: str
    account: int
    pool: Pool

    async def tell(self, *events: Any, body: bytes | None = None, **headers: str) -> int:
        """Send events with the right secret; return the status of the response."""
        given = {"X-Secret": "right"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        content = json.dumps(events).encode() if body is None else body
        return (await self.http.post(self.url, content=content, headers=given)).status_code


@asynccontextmanager
async def desk(
    database: DatabaseSettings, conn: Conn, provider: Honest | None = None
) -> AsyncIterator[InboundClient]:
    """Serve the URL of an account."""
    account = await make.sender_account(conn, name="relay")
    found = await accounts.find(conn, "default", name="relay")
    shown = await endpoints.put(
        conn,
        found,
        provider="sendgrid",
        change=SecretsChange(signing=("right",)),
        is_rotated=False,
        master=MASTER,
        base_url=ORIGIN,
        by="tests",
    )
    async with open_pool(database) as pool:
        settings = replace(settings_for(database), master_key=Secret(MASTER.key.hex()))
        services = replace(
            build_services(settings, pool), inbound={"sendgrid": provider or Honest()}
        )
        app = create_app(settings, pool, services=services)
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as http:
            yield InboundClient(http, shown.url, account, pool)


def handler(database: DatabaseSettings, confirming: Confirming | None = None) -> InboundHandler:
    tools = InboundTools({"sendgrid": Honest()}, confirming or Confirming())
    return InboundHandler(database, tools)


async def work(database: DatabaseSettings, confirming: Confirming | None = None) -> int:
    """Let a worker claim once; return the number of rows."""
    return await work_once(database, "inbound", handler(database, confirming))


async def kept(conn: Conn, *events: Any, **known: Any) -> UUID:
    """Insert a verified request."""
    values = {"provider": "sendgrid", "body": json.dumps(events).encode(), **known}
    assert await keep(conn, [NewRequest(**values)]) == 1
    found: UUID = await make.scalar(
        conn, "SELECT id FROM mailqueue.inbound_events ORDER BY id DESC LIMIT 1"
    )
    return found


async def states(conn: Conn) -> list[str]:
    found = await make.rows(conn, "SELECT status FROM mailqueue.inbound_events ORDER BY id")
    return [row[0] for row in found]


async def due_now(conn: Conn) -> None:
    await conn.execute("UPDATE mailqueue.inbound_events SET run_at = now()")
