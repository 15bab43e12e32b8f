"""Real logins with a single role, and the mail they try to insert."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit, urlunsplit

from psycopg import AsyncConnection, sql

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests.conftest import Server

MAIL = (
    "INSERT INTO mailqueue.email_queue (recipient_email, subject, text_body{more})"
    " VALUES ('ann@example.com', 'Hello', 'Hi'{values}) RETURNING id"
)


def mail(more: str = "", values: str = "") -> str:
    """Return an INSERT of one mail; `more` columns and their `values` start with a comma."""
    return MAIL.format(more=more, values=values)


@asynccontextmanager
async def login(superuser_url: str, role: str) -> AsyncIterator[Conn]:
    """Connect to the superuser's database as a new user in `role`."""
    async with (
        login_url(superuser_url, role) as url,
        connect(DatabaseSettings(Secret(url)), application_name="test") as conn,
    ):
        yield conn


@asynccontextmanager
async def login_url(superuser_url: str, role: str) -> AsyncIterator[str]:
    """Create a user in `role`; yield the address of the superuser's database with its login."""
    name, password = f"mailqueue_test_{secrets.token_hex(6)}", secrets.token_hex(8)
    made = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {} IN ROLE {}").format(
        sql.Identifier(name), sql.Literal(password), sql.Identifier(role)
    )
    async with await AsyncConnection.connect(superuser_url, autocommit=True) as admin:
        await admin.execute(made)
        try:
            yield _with_login(superuser_url, name, password)
        finally:
            await admin.execute(sql.SQL("DROP OWNED BY {}").format(sql.Identifier(name)))
            await admin.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


def _with_login(url: str, name: str, password: str) -> str:
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{name}:{password}@{host}"))


@asynccontextmanager
async def worker_login(
    server: Server, database: DatabaseSettings
) -> AsyncIterator[DatabaseSettings]:
    """Yield the settings of a login that has the rights of workers and no more."""
    name = urlsplit(database.url.reveal()).path.lstrip("/")
    async with login_url(server.superuser_url(name), "mailqueue_worker") as url:
        yield DatabaseSettings(Secret(url))
