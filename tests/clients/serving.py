"""The API on a real socket, in its own thread, for published client libraries."""

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from uuid import uuid4

import httpx2

from mailqueue.api.app import create_app
from mailqueue.api.http.server import bind, listening
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import open_connection, open_pool
from mailqueue.projects.keys.manage import issue_key
from mailqueue.projects.model import Scope
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.wiring.api import build_services
from tests import make
from tests.api.support.calling import MANY, settings_for
from tests.api.support.wired import MASTER

T = TypeVar("T")
FILES = ["application/pdf", "image/gif", "image/jpeg", "image/png", "image/webp", "text/plain"]
WAIT_SECONDS = 120
PDF = b"%PDF-1.4 one page"


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys of project `default`, except `other`, which belongs to another project."""

    live: str
    test: str
    reads: str
    slow: str
    other: str


@dataclass(slots=True)
class Served:
    """A server, its database, and keys; what tests ask the database is run by the thread's loop.

    They ask over one connection: a session for each statement costs more than the statement.
    """

    url: str = ""
    keys: Keys = field(default_factory=lambda: Keys("", "", "", "", ""))
    database: DatabaseSettings = field(default_factory=lambda: DatabaseSettings(Secret("")))
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    conn: Conn | None = None

    @property
    def host(self) -> str:
        """Return host and port."""
        return self.url.removeprefix("http://")

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the thread's event loop and return its result."""
        done: Future[T] = asyncio.run_coroutine_threadsafe(work, self.loop)
        return done.result(WAIT_SECONDS)

    def rows(self, query: str, *params: object) -> list[tuple[Any, ...]]:
        """Ask the database."""
        return self.run(self._rows(query, params))

    async def _rows(self, query: str, params: tuple[object, ...]) -> list[tuple[Any, ...]]:
        async with self.connection() as conn:
            return await make.rows(conn, query, *params)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Conn]:
        """Yield the kept connection to one coroutine at a time; open it anew if it was lost."""
        async with self.turn:
            if self.conn is None or self.conn.closed:
                self.conn = await open_connection(self.database)
            yield self.conn

    async def close(self) -> None:
        """Close the kept connection."""
        if self.conn is not None:
            await self.conn.close()

    def email(self, email_id: object) -> dict[str, Any]:
        """Return a stored mail with its content."""
        query = """
            SELECT jsonb_build_object('status', e.status, 'reason', e.reason, 'subject', c.subject,
                'html', c.html_body, 'text', c.text_body, 'from_email', c.from_email,
                'from_name', c.from_name, 'reply_to', c.reply_to, 'headers', c.headers,
                'files', c.files, 'tracking_options', c.tracking_options, 'tags', e.tags,
                'custom_data', e.custom_data,
                'category', e.category, 'run_at', e.run_at, 'to', e.recipient_email,
                'name', e.recipient_name, 'sender', (SELECT l.route FROM mailqueue.lanes AS l
                WHERE l.id = e.lane_id), 'template', c.template_version_id IS NOT NULL,
                'recipients', (SELECT jsonb_agg(jsonb_build_array(r.kind, r.address, r.name)
                    ORDER BY r.position) FROM mailqueue.email_recipients AS r
                    WHERE r.email_id = e.id))
            FROM (SELECT id, status, last_error AS reason, tags, custom_data, category, run_at,
                    recipient_email, recipient_name, lane_id, content_id, content_on
                    FROM mailqueue.email_queue
                  UNION ALL SELECT id, status, reason, tags, custom_data, category, NULL,
                    recipient_email, recipient_name, lane_id, content_id, content_on
                    FROM mailqueue.email_history) AS e
            LEFT JOIN mailqueue.email_contents AS c
              ON c.id = e.content_id AND c.created_on = e.content_on
            WHERE e.id = %s
        """
        ((found,),) = self.rows(query, email_id)
        document: dict[str, Any] = found
        return document

    def suppress(self, address: str) -> None:
        """Suppress an address."""
        self.rows(
            "INSERT INTO mailqueue.suppressions (project_id, address, reason) SELECT id, %s,"
            " 'manual' FROM mailqueue.projects WHERE name = 'default' RETURNING 1",
            address,
        )

    def add_template(
        self, slug: str, *, subject: str, html: str | None, text: str | None = None
    ) -> None:
        """Publish a template of the project."""
        self.run(self._add_template(slug, subject, html, text))

    async def _add_template(
        self, slug: str, subject: str, html: str | None, text: str | None
    ) -> None:
        async with httpx2.AsyncClient(base_url=self.url) as http:
            base, headers = "/v1/projects/default/templates", {"X-API-Key": self.keys.live}
            new = {"slug": slug, "name": slug, "category": "transactional"}
            words = {"subject": subject, "html_body": html, "text_body": text}
            for path, body in (
                (base, new),
                (f"{base}/{slug}/versions", words),
                (f"{base}/{slug}/versions/1/publish", {}),
            ):
                answer = await http.post(path, json=body, headers=headers)
                assert answer.is_success, answer.text

    def key_with(self, *scopes: Scope, is_test: bool = False) -> str:
        """Return a new key of project `default` with these scopes alone."""
        return self.run(self._key_with(scopes, is_test=is_test))

    async def _key_with(self, scopes: tuple[Scope, ...], *, is_test: bool) -> str:
        async with self.connection() as conn:
            made = await issue_key(
                conn,
                "default",
                f"narrow {uuid4()}",
                is_test=is_test,
                scopes=scopes,
                requests_per_second=MANY,
            )
            return made.key.reveal()

    def count(self) -> int:
        """Return the number of mails, queued and finished."""
        query = (
            "SELECT (SELECT count(*) FROM mailqueue.email_queue)"
            " + (SELECT count(*) FROM mailqueue.email_history)"
        )
        ((found,),) = self.rows(query)
        return int(found)


@contextmanager
def served(database_url: str, **changed: Any) -> Iterator[Served]:
    """Serve the API, with its adapters and changed settings, until the block ends."""
    server = Served(database=DatabaseSettings(Secret(database_url)))
    thread = threading.Thread(target=server.loop.run_forever, name="served", daemon=True)
    thread.start()
    stack = AsyncExitStack()
    try:
        server.run(_begin(server, stack, changed))
        yield server
    finally:
        server.run(stack.aclose())
        server.loop.call_soon_threadsafe(server.loop.stop)
        thread.join(WAIT_SECONDS)
        server.loop.close()


async def _begin(server: Served, stack: AsyncExitStack, changed: dict[str, Any]) -> None:
    stack.push_async_callback(server.close)
    async with server.connection() as conn:
        server.keys = await _furnished(conn)
    settings = replace(settings_for(server.database), master_key=Secret(MASTER), **changed)
    pool = await stack.enter_async_context(open_pool(server.database, is_required=False))
    app = create_app(settings, pool, services=build_services(settings, pool))
    sock = bind("127.0.0.1", 0, option="--port")
    server.url = await stack.enter_async_context(listening(app, sock))


async def _furnished(conn: Conn) -> Keys:
    await make.sender_account(conn, name="relay")
    await make.sender_account(conn, name="trap", provider="trap")
    await conn.execute(
        "UPDATE mailqueue.projects SET attachment_types = %s WHERE name = 'default'", [FILES]
    )
    await make.project(conn, "other")

    async def key(name: str, project: str = "default", **options: Any) -> str:
        given = {"is_test": False, "requests_per_second": MANY} | options
        return (await issue_key(conn, project, name, **given)).key.reveal()

    return Keys(
        live=await key("live"),
        test=await key("test", is_test=True),
        reads=await key("reads", scopes=[Scope.EMAIL_READ]),
        slow=await key("slow", requests_per_second=1),
        other=await key("other", project="other"),
    )
