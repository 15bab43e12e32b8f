"""The pages of persons on a database of one test, visited without a port and without a browser."""

import re
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from html import unescape
from typing import Any
from uuid import UUID

import httpx2

from mailqueue.admin.users.passwords import Cost, Passwords
from mailqueue.api.app import create_app
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import Pool, borrow, open_pool
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.watch.logins import links
from mailqueue.web import tokens
from mailqueue.wiring.api import build_services
from tests import make
from tests.api.support.calling import settings_for
from tests.api.support.wired import MASTER
from tests.console.visiting import fields_of
from tests.watch import watching

ORIGIN = "http://127.0.0.1:8025"
PASSWORD = "correct horse battery"
QUICK = Cost(memory_kib=64, passes=1, lanes=1)
HOME = "/inbox/default"


@dataclass(frozen=True, slots=True)
class Visiting:
    """The application, its pool, and clients that keep cookies as browsers do."""

    app: Any
    pool: Pool
    database: DatabaseSettings

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Conn]:
        async with borrow(self.pool, self.database) as conn:
            yield conn

    @asynccontextmanager
    async def visitor(
        self, home: str = HOME, *, address: str = "127.0.0.1"
    ) -> AsyncIterator["Visitor"]:
        transport = httpx2.ASGITransport(
            app=self.app, raise_app_exceptions=False, client=(address, 40_000)
        )
        async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as http:
            yield Visitor(http, home)

    async def person(self, email: str = "ann@example.com", project: str = "default") -> UUID:
        """Add a person who has set PASSWORD."""
        async with self.connection() as conn:
            added = await watching.user(conn, email, project=project)
        link = await self.link(added, project)
        async with self.visitor(f"/inbox/{project}") as visitor:
            response = await visitor.choose(link)
            assert response.status_code == 200, response.text
        return added

    async def link(self, person: UUID, project: str = "default") -> str:
        """Return the path of a new link of a person."""
        async with self.connection() as conn:
            made = await links.invite(
                conn,
                await make.project_named(conn, project),
                person,
                project=project,
                origin=ORIGIN,
                by_mail=False,
                by="tests",
            )
        assert made.url is not None
        return made.url.removeprefix(ORIGIN)


@dataclass(frozen=True, slots=True)
class Visitor:
    """One browser, at the pages of one project."""

    http: httpx2.AsyncClient
    home: str
    pages: dict[str, str] = field(default_factory=dict)

    async def get(self, path: str = "") -> httpx2.Response:
        return await self.http.get(self.home + path)

    async def post(self, path: str, fields: Mapping[str, str], **headers: str) -> httpx2.Response:
        given = {"Origin": ORIGIN} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        return await self.http.post(self.home + path, data=dict(fields), headers=given)

    async def submit(self, page: str, action: str, **fields: str) -> httpx2.Response:
        """Open a page and send one of its forms, with its hidden fields."""
        response = await self.get(page)
        assert response.status_code == 200, f"{page}: {response.status_code} {response.text}"
        hidden = fields_of(response.text, self.home + action)
        return await self.post(action, hidden | fields)

    def token(self, path: str) -> str:
        """Return a token for a form that is sent to a path, as a page would have it."""
        session = Secret(self.http.cookies[f"inbox_session_{self.home.rpartition('/')[2]}"])
        return tokens.new_token(session, self.home + path, now=time.time())

    async def log_in(
        self, email: str = "ann@example.com", password: str = PASSWORD
    ) -> httpx2.Response:
        return await self.submit("/login", "/login", email=email, password=password)

    async def choose(self, link: str, password: str = PASSWORD) -> httpx2.Response:
        """Open a link and choose a password."""
        page = link.removeprefix(self.home)
        return await self.submit(page, "/welcome", password=password, again=password)

    async def text(self, path: str = "") -> str:
        """Return the text of a page, which is there."""
        response = await self.http.get(self.home + path, follow_redirects=True)
        assert response.status_code == 200, f"{path}: {response.status_code} {response.text}"
        return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", response.text)))


@asynccontextmanager
async def visiting(database: DatabaseSettings, **options: Any) -> AsyncIterator[Visiting]:
    async with open_pool(database, is_required=False) as pool:
        given = {"master_key": Secret(MASTER), "public_url": ORIGIN} | options
        settings = settings_for(database, **given)
        services = replace(build_services(settings, pool), passwords=Passwords(QUICK))
        yield Visiting(create_app(settings, pool, services=services), pool, database)
