"""A trap on a database of one test, and clients that send mail to it."""

import asyncio
import smtplib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mailqueue.db.pool import Pool, open_pool
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.trap.server import TrapServer, trap_server

HTML = b"""\
From: =?utf-8?q?Ann=C3=A9?= <ann@example.com>
To: "Bob, the builder" <bob@example.org>
Subject: Receipt =?utf-8?b?8J+Yig==?= for you
Message-ID: <one@example.com>
MIME-Version: 1.0
Content-Type: multipart/alternative; boundary=b

--b
Content-Type: text/plain; charset=utf-8

Thank you for the order.
--b
Content-Type: text/html; charset=utf-8

<p>Thank you for <b>the order</b>.</p>
--b--
""".replace(b"\n", b"\r\n")


@asynccontextmanager
async def trapping(database: DatabaseSettings, **options: Any) -> AsyncIterator[TrapServer]:
    async with open_pool(database) as pool, on(pool, database, **options) as trap:
        yield trap


@asynccontextmanager
async def on(pool: Pool, database: DatabaseSettings, **options: Any) -> AsyncIterator[TrapServer]:
    usual: dict[str, Any] = {"host": "127.0.0.1", "port": 0}
    async with trap_server(pool, database, **usual | options) as trap:
        yield trap


async def mail_to(
    trap: TrapServer, *recipients: str, raw: bytes = HTML, password: str | None = None
) -> dict[str, tuple[int, bytes]]:
    """Send one message with the standard library's client; return the refusals."""

    def send() -> dict[str, tuple[int, bytes]]:
        with smtplib.SMTP("127.0.0.1", trap.port, timeout=60) as smtp:
            if password is not None:
                smtp.login("anybody", password)
            return smtp.sendmail("ann@example.com", recipients or ["bob@example.org"], raw)

    return await asyncio.to_thread(send)
