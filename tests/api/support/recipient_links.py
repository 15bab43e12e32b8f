"""The links of a mail to its recipient: an application, the mail, and the tokens of its pages."""

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import httpx2
from starlette.types import ASGIApp

from mailqueue.api.app import create_app
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect, open_pool
from mailqueue.projects.keys.manage import issue_key
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.tracking.keyring import Keyring
from mailqueue.tracking.tokens import Token, TokenKind
from mailqueue.tracking.urls import PATHS
from mailqueue.vault.masterkey import master_key_of
from mailqueue.wiring.api import build_services
from tests import make
from tests.api.support.calling import ORIGIN, settings_for

MASTER = base64.b64encode(bytes(range(32))).decode()
ONE_CLICK = {"List-Unsubscribe": "One-Click"}


@dataclass(frozen=True, slots=True)
class Leaving:
    """A client without a key, and functions that create mail and its links."""

    http: httpx2.AsyncClient
    app: ASGIApp
    database: DatabaseSettings
    conn: Conn
    keyring: Keyring
    project_id: UUID
    key: str

    async def mail(self, to: str, category: str = "marketing", **columns: Any) -> UUID:
        return await make.queued_email(
            self.conn, project="shop", recipient_email=to, category=category, **columns
        )

    async def link(self, email_id: UUID, kind: TokenKind = TokenKind.UNSUBSCRIBE) -> str:
        seals = await self.keyring.of(self.conn, self.project_id)
        text = seals.seal(Token(kind, email_id))
        return PATHS[kind] + text

    async def link_to(self, to: str, category: str = "marketing") -> str:
        return await self.link(await self.mail(to, category))

    async def preferences_of(self, to: str, category: str = "marketing") -> str:
        return await self.link(await self.mail(to, category), TokenKind.PREFERENCES)

    async def category(self, slug: str, **given: Any) -> None:
        answer = await self.http.post(
            "/v1/categories",
            json={"slug": slug, "name": slug.title(), **given},
            headers={"X-API-Key": self.key},
        )
        assert answer.status_code == 201, answer.text

    async def gets(self, address: str, category: str) -> bool:
        """Return whether mail of a category is sent to an address."""
        why = "SELECT mailqueue.suppressed(%s, %s, %s)"
        return await make.scalar(self.conn, why, self.project_id, address, category) is None

    async def state(self) -> list[Any]:
        """Return all rows that a link could change."""
        return [
            await make.rows(self.conn, f"SELECT t::text FROM mailqueue.{table} AS t ORDER BY 1")
            for table in (
                "suppressions",
                "unsubscribe_list",
                "subscription_preferences",
                "suppression_history",
                "email_events",
                "audit_events",
            )
        ]


@asynccontextmanager
async def leaving(database: DatabaseSettings) -> AsyncIterator[Leaving]:
    settings = replace(settings_for(database), master_key=Secret(MASTER))
    keyring = Keyring(lambda: master_key_of(settings))
    async with connect(database) as conn, open_pool(database) as pool:
        project_id = await make.project(
            conn, "shop", display_name="The Shop & Co", postal_address="1 High Street"
        )
        await make.sender_account(conn, name="relay", project_id=project_id)
        issued = await issue_key(conn, "shop", "all", is_test=False, requests_per_second=10_000)
        app = create_app(settings, pool, services=build_services(settings, pool))
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=True)
        async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as http:
            yield Leaving(http, app, database, conn, keyring, project_id, issued.key.reveal())
