"""A running submission server, a key for it, and clients that submit mail to it."""

import asyncio
import smtplib
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import open_pool
from mailqueue.projects.keys.manage import issue_key
from mailqueue.settings.environment import Settings, load_settings
from mailqueue.smtp.server.handler import ServerLimits
from mailqueue.submission.handler import MAX_WAIT_SECONDS
from mailqueue.submission.server import LIMITS, submission_server
from tests import make
from tests.docs.reading import blocks

T = TypeVar("T")
QUEUED = "Ok: queued as "


@dataclass(frozen=True, slots=True)
class RunningSubmission:
    """A submission server, and a key of the project for which it accepts mail."""

    port: int
    tls_port: int
    key: str
    certificate: Path

    def context(self) -> ssl.SSLContext:
        """Return a client's context that trusts this server only."""
        return ssl.create_default_context(cafile=str(self.certificate))

    def client(self, *, key: str | None = None) -> smtplib.SMTP:
        """Return a client of the standard library that has logged in under STARTTLS."""
        client = smtplib.SMTP("localhost", self.port, timeout=60)
        client.starttls(context=self.context())
        client.login("apikey", self.key if key is None else key)
        return client


def settings_for(url: str, data: Path, **options: Any) -> Settings:
    """Return the settings of a server on free ports."""
    return load_settings(
        **{
            "database_url": url,
            "data": data,
            "submission_port": 0,
            "submission_tls_port": 0,
            "submission_name": "mx.example.com",
            **options,
        }
    )


@asynccontextmanager
async def running(
    url: str,
    conn: Conn,
    folder: Path,
    *,
    limits: ServerLimits = LIMITS,
    patience_s: float = MAX_WAIT_SECONDS,
    **options: Any,
) -> AsyncIterator[RunningSubmission]:
    """Serve a database; the key is of its default project, which has a sender account."""
    await make.sender_account(conn)
    name = f"key {folder.name}"
    key = await issue_key(conn, "default", name, is_test=False, requests_per_second=100_000)
    settings = settings_for(url, folder, **options)
    async with (
        open_pool(settings.database, application_name="submission") as pool,
        submission_server(settings, pool, limits=limits, patience_s=patience_s) as server,
    ):
        assert server.tls_port is not None
        yield RunningSubmission(
            server.port, server.tls_port, key.key.reveal(), folder / "submission.pem"
        )


async def beside(work: Callable[..., T], *given: Any) -> T:
    """Run a blocking function in a thread, beside the server in this loop."""
    return await asyncio.to_thread(work, *given)


def message(**fields: str) -> EmailMessage:
    """Return a mail as a program composes it; `X_Odd` is the field X-Odd."""
    made = EmailMessage()
    given = {
        "From": "Shop <shop@example.com>",
        "To": "ann@example.com",
        "Subject": "Hello",
        **{name.replace("_", "-"): value for name, value in fields.items()},
    }
    for name, value in given.items():
        made[name] = value
    made.set_content("Hello Ann\n")
    return made


def handed_in(client: smtplib.SMTP, octets: bytes, *to: str, sender: str = "a@example.com") -> UUID:
    """Submit one message by single commands; return its id."""
    code, said = answered(client, octets, *to, sender=sender)
    assert code == 250, said
    return UUID(said.partition(QUEUED)[2])


def answered(
    client: smtplib.SMTP, octets: bytes, *to: str, sender: str = "a@example.com"
) -> tuple[int, str]:
    """Submit one message; return the reply to its end, or the refusal before it."""
    code, said = client.mail(sender)
    for address in to or ("ann@example.com",):
        if code != 250:
            break
        code, said = client.rcpt(address)
    if code == 250:
        code, said = client.data(octets)
    else:
        client.rset()
    return code, said.decode()


async def mails(conn: Conn, ids: Sequence[UUID]) -> list[tuple[Any, ...]]:
    """Return address, state and content of mails, in the order of their ids."""
    return await make.rows(
        conn,
        "SELECT recipient_email, status, subject FROM mailqueue.emails WHERE id = ANY (%s)"
        " ORDER BY id",
        list(ids),
    )


def documented_lines(language: str, *, holding: str) -> str:
    """Return the only block of the documentation page that contains a text."""
    page = "docs/clients/smtp.md"
    [found] = [
        block.text for block in blocks(language) if block.page == page and holding in block.text
    ]
    return found
