"""Addresses are compared alike in databases of any locale."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import psycopg
import pytest
from psycopg.errors import FeatureNotSupported

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.migrate import migrate
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings, Pooler
from mailqueue.suppression import entries
from tests import make
from tests.conftest import ROLE, Server
from tests.suppression.test_spellings import BOOKS, SPELLED, suppress

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def database_of(server: Server, options: str) -> AsyncIterator[Conn]:
    name = f"mailqueue_locale_{uuid4().hex[:8]}"
    with psycopg.connect(server.superuser, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name} OWNER {ROLE} TEMPLATE template0 {options}".encode())
        try:
            settings = DatabaseSettings(Secret(server.direct_url(name)), pooler=Pooler.NONE)
            await migrate(settings)
            async with connect(settings) as conn:
                yield conn
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@pytest.mark.parametrize(
    "options", ["LOCALE 'C'", "LOCALE_PROVIDER icu ICU_LOCALE 'tr' LOCALE 'C.UTF-8'"]
)
async def test_addresses_are_compared_alike_whatever_the_locale_of_the_database(
    server: Server, options: str
) -> None:
    """lower('I') is a dotless i in Turkish, and 'JÖRG' stays as it is in C."""
    pairs = [
        ("J\u00d6RG@Example.com", "j\u00f6rg@example.COM"),
        ("INFO@EXAMPLE.com", "info@example.com"),
        ("\u0391\u03a3@example.com", "\u03b1\u03c3@example.com"),
        (SPELLED[1], BOOKS),
    ]
    try:
        async with database_of(server, options) as conn:
            for listed, written in [*pairs, *((b, a) for a, b in pairs)]:
                await suppress(conn, listed)

                email_id = await make.queued_email(conn, recipient_email=written)

                assert await make.status_of(conn, email_id) == "suppressed"
                await entries.remove(conn, "default", email=written, by="tests")
    except FeatureNotSupported:  # a server without ICU
        assert "icu" in options
