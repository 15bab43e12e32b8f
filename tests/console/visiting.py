"""The console on a database of one test, visited without a port and without a browser."""

import re
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from html import unescape
from typing import Any

import httpx2

from mailqueue.admin.users import manage
from mailqueue.admin.users.mailing import LinkMailer
from mailqueue.admin.users.passwords import Cost, Passwords
from mailqueue.api.app import create_app
from mailqueue.console.app import console_routes
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import Pool, borrow, open_pool
from mailqueue.db.replica import open_replica
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.web import tokens
from mailqueue.wiring.api import build_services, trial_transports
from mailqueue.wiring.console import login_provider, message_sources
from mailqueue.wiring.webhooks import poster_of
from tests.api.support.calling import settings_for

ORIGIN = "http://127.0.0.1:8025"
PASSWORD = "correct horse battery"
QUICK = Cost(memory_kib=64, passes=1, lanes=1)
_TOKEN = re.compile(r'<form[^>]*action="(?P<action>[^"]+)"[^>]*>(?P<rest>.*?)</form>', re.DOTALL)
_FIELD = re.compile(r'<input[^>]*type="hidden"[^>]*name="([^"]+)"[^>]*value="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Visiting:
    """The application, its pool, and clients that keep cookies as browsers do."""

    app: Any
    pool: Pool
    database: DatabaseSettings

    @asynccontextmanager
    async def visitor(
        self, *, origin: str = ORIGIN, address: str = "127.0.0.1"
    ) -> AsyncIterator["Visitor"]:
        transport = httpx2.ASGITransport(
            app=self.app, raise_app_exceptions=False, client=(address, 40_000)
        )
        async with httpx2.AsyncClient(transport=transport, base_url=origin) as http:
            yield Visitor(http, origin)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Conn]:
        async with borrow(self.pool, self.database) as conn:
            yield conn

    async def add_user(
        self, name: str, role: str = "superadmin", *projects: str, origin: str = ORIGIN
    ) -> None:
        """Add a user who has set PASSWORD."""
        async with self.connection() as conn:
            made = await manage.add(conn, name, role=role, projects=projects, by="tests")
        async with self.visitor(origin=origin) as visitor:
            response = await visitor.post(
                "/console/welcome",
                {"link": made.token.reveal(), "password": PASSWORD, "again": PASSWORD},
            )
            assert response.status_code == 200, response.text

    @staticmethod
    def unconfirmed(name: str) -> bytes:
        """Return the statement after which the sessions of a user were confirmed too long ago."""
        return (
            "UPDATE mailqueue.console_sessions AS s"
            " SET confirmed_at = now() - interval '10 min 1 s'"
            f" FROM mailqueue.console_users AS u WHERE u.id = s.user_id AND u.name = '{name}'"
        ).encode()


@dataclass(frozen=True, slots=True)
class Visitor:
    """One browser."""

    http: httpx2.AsyncClient
    origin: str

    async def get(self, path: str) -> httpx2.Response:
        return await self.http.get(path)

    async def post(self, path: str, fields: Mapping[str, str], **headers: str) -> httpx2.Response:
        given = {"Origin": self.origin} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        return await self.http.post(path, data=dict(fields), headers=given)

    async def log_in(self, name: str, password: str = PASSWORD, **fields: str) -> httpx2.Response:
        return await self.post("/console/login", {"name": name, "password": password} | fields)

    def token(self, path: str) -> str:
        """Return a token for a form that is sent to a path, as a page would have it."""
        prefix = "__Host-" if self.origin.startswith("https:") else ""
        session = Secret(self.http.cookies[f"{prefix}mailqueue_session"])
        return tokens.new_token(session, path, now=time.time())

    async def submit(self, page: str, action: str, **fields: str) -> httpx2.Response:
        """Open a page and send one of its forms, with its hidden fields."""
        return await self.post(action, await self.form(page, action) | fields)

    async def upload(
        self, path: str, content: bytes, *, name: str = "list.csv", **fields: str
    ) -> httpx2.Response:
        """Open a page and send its form with a file, as a browser does."""
        return await self.http.post(
            path,
            data=await self.form(path, path) | fields,
            files={"file": (name, content, "text/csv")},
            headers={"Origin": self.origin},
        )

    async def form(self, page: str, action: str) -> dict[str, str]:
        """Return the hidden fields of a form on a page."""
        response = await self.get(page)
        assert response.status_code == 200, f"{page}: {response.status_code} {response.text}"
        return fields_of(response.text, action)


def fields_of(html: str, action: str) -> dict[str, str]:
    """Return the hidden fields of the first form with an action."""
    for form in _TOKEN.finditer(html):
        if unescape(form["action"]) == action:
            return {name: unescape(value) for name, value in _FIELD.findall(form["rest"])}
    raise AssertionError(f"no form with action {action}")


@asynccontextmanager
async def visiting(
    database: DatabaseSettings, *, link_mailer: LinkMailer | None = None, **options: Any
) -> AsyncIterator[Visiting]:
    async with (
        open_pool(database, is_required=False) as pool,
        open_replica(database) as replica,
    ):
        settings = settings_for(database, **options)
        pages = console_routes(
            settings,
            pool,
            message_sources(settings),
            issuer=login_provider(settings),
            link_mailer=link_mailer,
            passwords=Passwords(QUICK),
            open_transport=trial_transports(settings),
            make_poster=partial(poster_of, settings),
            replica=replica,
        )
        app = create_app(settings, pool, services=build_services(settings, pool), pages=pages)
        yield Visiting(app, pool, database)
