"""The tracking endpoints over HTTP, for a project with mail that was sent."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import httpx2
import pytest

from mailqueue.api.app import create_app
from mailqueue.core.secret import Secret
from mailqueue.db.pool import Pool, borrow, open_pool
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.tracking import store
from mailqueue.tracking.keyring import Keyring
from mailqueue.tracking.model import TrackedLink
from mailqueue.tracking.tokens import Seals, Token, TokenKind
from mailqueue.vault.masterkey import parse_master_key
from mailqueue.wiring.api import build_services
from tests import make
from tests.api.support.calling import ORIGIN, settings_for
from tests.api.support.wired import MASTER

PERSON = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)"
    " Chrome/120.0.0.0 Safari/537.36"
)
EVENTS = (
    "SELECT type, recipient_email, data FROM mailqueue.email_events"
    " WHERE email_id = %s AND source = 'tracking' ORDER BY id"
)

SENT = """
    INSERT INTO mailqueue.email_history (id, finished_at, project_id, lane_id, status, priority,
        attempts, max_attempts, created_at, recipients, unknowns, delivery, category, expires_at,
        recipient_email, content_id, content_on)
    VALUES (mailqueue.uuidv7(), now() - %s::interval, %s, 1, 'sent', 2, 1, 100, now(), 1, 0,
        'resend', 'transactional', now() + interval '1 day', %s, 1, now()) RETURNING id
"""


@dataclass
class World:
    """The application, the seals of project default, and mail that was sent."""

    http: httpx2.AsyncClient
    pool: Pool
    database: DatabaseSettings
    seals: Seals
    project_id: UUID
    emails: list[UUID] = field(default_factory=list)

    async def mail(self, recipient: str = "ann@example.com", ago: str = "1 minute") -> UUID:
        """Return a mail that was sent this long ago."""
        async with borrow(self.pool, self.database) as conn:
            email_id: UUID = await make.scalar(conn, SENT, ago, self.project_id, recipient)
            return email_id

    async def link(self, url: str) -> bytes:
        link = self.seals.link_of(url)
        async with borrow(self.pool, self.database) as conn:
            await store.keep_links(conn, [TrackedLink(self.project_id, link, url)])
        return link

    def opened(self, email_id: UUID) -> str:
        return "/t/o/" + self.seals.seal(Token(TokenKind.OPEN, email_id))

    def clicked(self, email_id: UUID, link: bytes) -> str:
        return "/t/c/" + self.seals.seal(Token(TokenKind.CLICK, email_id, 0, link))

    async def get(self, path: str, method: str = "GET", **headers: str) -> httpx2.Response:
        given = {"user-agent": PERSON} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        return await self.http.request(method, path, headers=given, follow_redirects=False)

    async def events(self, email_id: UUID) -> list[tuple[Any, ...]]:
        async with borrow(self.pool, self.database) as conn:
            return await make.rows(conn, EVENTS, email_id)


@pytest.fixture(scope="module")
async def world(module_db: str) -> AsyncIterator[World]:
    database = DatabaseSettings(Secret(module_db))
    settings = replace(settings_for(database), master_key=Secret(MASTER))
    async with open_pool(database) as pool:
        app = create_app(settings, pool, services=build_services(settings, pool))
        async with borrow(pool, database) as conn:
            project_id = await make.project_named(conn)
            master = parse_master_key(MASTER, source="test")
            seals = await Keyring(lambda: master).of(conn, project_id)
        transport = httpx2.ASGITransport(app=app, client=("203.0.113.77", 4711))
        async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as http:
            yield World(http, pool, database, seals, project_id)
