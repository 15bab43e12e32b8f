"""Isolate: a row that cannot be read, composed, tracked or settled is that row's outcome only.

The rows are put there by the schema's owner, past every check of what is accepted.
"""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn
from mailqueue.mail.accept.enqueue import NewEmail
from mailqueue.mail.message import tracking
from mailqueue.mail.model import EmailContent, Ending, LoadedEmail, LogStatus
from mailqueue.mail.send import load
from mailqueue.mail.send.context import SendAccount
from mailqueue.mail.send.reads import SendReads
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.mail.send.store.outcomes import settle_and_mark
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.concurrency.running import account_at, session, until, until_nothing_is_queued
from tests.logged import log_of
from tests.mail.claim.steps import outcome
from tests.mail.enqueueing import enqueue
from tests.mail.send.test_settler import claimed_mail
from tests.mail.send.test_worker import courier
from tests.smtp.client.scripted import scripted
from tests.templates.making import published

pytestmark = pytest.mark.anyio

REASONS = "SELECT id, reason FROM mailqueue.email_history WHERE status = 'failed'"
DEEP = "[" * 1_100 + "]" * 1_100
DEEPER = "[" * 6_000 + "]" * 6_000
NINES = '{"a": ' + "9" * 5_000 + "}"

# What a column is made: of mail that says all itself, and what becomes of it.
OF_QUEUE = [
    ("expires_at = 'infinity'", "sent", None),
    ("expires_at = '294276-12-31 23:59:59+00'", "sent", None),
    ("expires_at = '9999-12-31T23:59:59-12:00'", "sent", None),
    ("expires_at = '-infinity'", "expired", None),
    ("expires_at = '4713-01-01 00:00:00+00 BC'", "expired", None),
    ("created_at = 'infinity'", "sent", None),
    ("run_at = '-infinity'", "sent", None),
    ("attempts = 32767", "sent", None),
    ("attempts = -32768", "sent", None),
    ("max_attempts = -32768", "sent", None),
    ("unknowns = 32767", "sent", None),
    ("recipient_email = repeat('x', 100000)", "failed", "recipient: "),
    ("recipient_name = repeat('y', 1000000)", "failed", "the message has"),
    ("content_on = 'infinity'", "sent", None),  # looked for on the days of all mail together
    ("content_on = '-infinity'", "sent", None),
    ("recipient_email = 'nobody'", "failed", "recipient: "),
    ("recipient_name = E'a\\r\\nBcc: b@example.com'", "failed", ""),
    (f"custom_data = '{DEEP}'", "sent", None),
    (f"custom_data = '{DEEPER}'", "sent", None),
    (f"custom_data = '{NINES}'", "sent", None),
    ("custom_data = '{\"a\": 1e60000}'", "sent", None),
]
OF_CONTENT = [
    (f"headers = '{DEEP}'", "failed", "its headers cannot be read"),
    ("headers = '\"X: y\"'", "failed", "its headers cannot be read"),
    ("headers = '[1]'", "failed", "its headers cannot be read"),
    ("headers = '{\"X-A\": 1}'", "failed", "its header X-A is no text"),
    ("headers = '{\"X-A\": null}'", "failed", "its header X-A is no text"),
    ("headers = '{\"X-A\": 1e400}'", "sent", None),
    (f"files = '{DEEP}'", "failed", "its list of files cannot be read"),
    ("files = '{\"a\": 1}'", "failed", "its list of files cannot be read"),
    ('files = \'[{"id": "x"}]\'', "failed", "its list of files cannot be read"),
    ("from_email = 'nobody'", "failed", ""),
    ("reply_to = 'nobody'", "failed", ""),
    ("subject = E'a\\r\\nBcc: b@example.com'", "failed", ""),
    ("template_version_id = mailqueue.uuidv7()", "failed", "its template was deleted"),
    ("tracking_options = 32767", "sent", None),
]
OF_VARIABLES = [
    ('custom_data = \'{"variables": ' + DEEP + "}'", "failed", "its variables cannot be read"),
    ('custom_data = \'{"variables": {"name": 1e60000}}\'', "failed", "its variables cannot be"),
    (f"custom_data = '{DEEP}'", "failed", "its variables cannot be read"),
]


async def broken(conn: Conn, change: str, *, in_contents: bool = False) -> UUID:
    """Queue a mail of project `default` and change its row."""
    email = await make.queued_email(conn)
    table, key = ("email_contents AS c", "c.id = q.content_id") if in_contents else ("", "")
    if in_contents:
        statement = (
            f"UPDATE mailqueue.{table} SET {change} FROM mailqueue.email_queue AS q"
            f" WHERE q.id = %s AND {key}"
        )
    else:
        statement = f"UPDATE mailqueue.email_queue SET {change} WHERE id = %s"
    assert (await conn.execute(statement.encode(), (email,))).rowcount == 1
    return email


async def test_mail_that_cannot_be_read_ends_alone_and_other_mail_goes_out(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    async with scripted() as server, session(database) as conn:
        await account_at(conn, server)
        other = await make.project(conn, "tenantb")
        await make.sender_account(conn, project_id=other, smtp_port=server.port)
        await published(conn, await make.project_named(conn))
        wanted: dict[UUID, tuple[str, str, str | None]] = {}
        for change, status, reason in OF_QUEUE:
            wanted[await broken(conn, change)] = (change, status, reason)
        for change, status, reason in OF_CONTENT:
            wanted[await broken(conn, change, in_contents=True)] = (change, status, reason)
        for change, status, reason in OF_VARIABLES:
            options = {"template": "welcome", "variables": {"name": "Ann"}}
            email = NewEmail("a@example.com", None, options=options)
            wanted[poisoned := await enqueue(conn, email, project="default")] = (
                change,
                status,
                reason,
            )
            await conn.execute(
                f"UPDATE mailqueue.email_queue SET {change} WHERE id = %s".encode(), (poisoned,)
            )
        theirs = [await make.queued_email(conn, project="tenantb") for _ in range(10)]
        async with courier(database, tmp_path) as running:
            await until_nothing_is_queued(conn)
            later = await make.queued_email(conn, project="tenantb")
            await until_nothing_is_queued(conn)
            assert not running.done()

        found = {
            id_: (status, reason)
            for id_, status, reason in await make.rows(
                conn, "SELECT id, status, reason FROM mailqueue.email_history"
            )
        }
    assert {found[one][0] for one in [*theirs, later]} == {"sent"}
    for email_id, (change, status, why) in wanted.items():
        assert found[email_id][0] == status, f"{change[:60]}: {found[email_id]}"
        if why is not None:
            assert why in (found[email_id][1] or ""), f"{change[:60]}: {found[email_id]}"


async def test_what_fails_while_a_batch_is_read_fails_that_mail_alone(
    database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also an unexpected error: it is logged once with its traceback, and the worker continues."""
    logged = log_of(load, monkeypatch)
    async with scripted() as server, session(database) as conn:
        await account_at(conn, server)
        mails = await make.queued_emails(conn, 5)
        query = "SELECT content_id FROM mailqueue.email_queue WHERE id = %s"
        content = await make.scalar(conn, query, mails[2])
        genuine = claims_store.read_contents

        async def read_contents(conn: Conn, ids: list[int], **of: Any) -> list[EmailContent]:
            if content in ids:
                raise KeyError("odd")
            return await genuine(conn, ids, **of)

        async def take(*_: Any, **__: Any) -> claims_store.Taken:
            raise KeyError("odd")

        monkeypatch.setattr(claims_store, "read_contents", read_contents)
        monkeypatch.setattr(claims_store, "take", take)
        async with courier(database, tmp_path) as running:
            assert await until_nothing_is_queued(conn) == {"sent": 4, "failed": 1}
            assert not running.done()
        assert await make.rows(conn, REASONS) == [
            (mails[2], "KeyError while what it says was read")
        ]
    [line] = logged.getvalue().decode().splitlines()
    assert "email.unreadable" in line
    assert "read_contents" in line


async def test_what_fails_while_links_are_put_in_fails_that_mail_alone(
    database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged = log_of(tracking, monkeypatch)

    async def injected(_: Conn, mails: list[LoadedEmail], **__: Any) -> list[LoadedEmail]:
        if any(one.content is not None and "odd" in (one.content.html_body or "") for one in mails):
            raise RecursionError
        return mails

    monkeypatch.setattr(tracking, "injected", injected)
    async with scripted() as server, session(database) as conn:
        await account_at(conn, server)
        for word in ("fine", "odd", "fine"):
            await make.queued_email(conn, html_body=f"<p>{word}</p>", unsubscribe=True)
        async with courier(database, tmp_path) as running:
            assert await until_nothing_is_queued(conn) == {"sent": 2, "failed": 1}
            assert not running.done()
        [(_, reason)] = await make.rows(conn, REASONS)
    assert reason == "RecursionError while composing"
    assert logged.getvalue().count(b"tracking.failed") == 1


async def test_an_account_that_cannot_be_read_keeps_no_other_from_sending(
    database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scripted() as server, session(database) as conn:
        odd = await account_at(conn, server)
        other = await make.project(conn, "tenantb")
        await make.sender_account(conn, project_id=other, smtp_port=server.port)
        waiting = await make.queued_email(conn)
        genuine = SendReads.account

        async def find(self: SendReads, account_id: int) -> SendAccount:
            if account_id == odd:
                raise TypeError("odd")
            return await genuine(self, account_id)

        monkeypatch.setattr(SendReads, "account", find)
        await make.queued_email(conn, project="tenantb")
        async with courier(database, tmp_path) as running:

            async def theirs_is_sent() -> bool:
                return bool(await make.rows(conn, "SELECT FROM mailqueue.email_history"))

            await until(theirs_is_sent)
            assert not running.done()
        query = "SELECT last_error FROM mailqueue.email_queue WHERE id = %s"
        said = await make.scalar(conn, query, waiting)
    assert said == "TypeError while its sender account was read"


@pytest.mark.parametrize(
    "odd",
    [
        {"reason": "a\0b"},
        {"reason": "\ud800"},
        {"reply": "a\0b", "reason": "refused"},
        {"message_id": "<\0@example.com>", "reason": "refused"},
        {"response_ms": 2**40, "reason": "refused"},
        {"wait": timedelta.max, "ending": Ending.DEFER, "log": None},
    ],
)
async def test_an_outcome_that_cannot_be_written_keeps_no_other_from_being_written(
    database: DatabaseSettings, odd: dict[str, Any]
) -> None:
    async with claimed_mail(database, 3) as (conn, worker, mails):
        outcomes = [outcome(mails[0], Ending.SENT, log=LogStatus.SENT)]
        outcomes.append(outcome(mails[1], Ending.FAILED, log=LogStatus.FAILED)._replace(**odd))
        outcomes.append(outcome(mails[2], Ending.FAILED, log=LogStatus.FAILED))

        written = await settle_and_mark(conn, worker, settled=outcomes)

        assert written.moved_on == []
        found = dict(await make.rows(conn, "SELECT id, status FROM mailqueue.email_history"))
        assert (found[mails[0].id], found[mails[2].id]) == ("sent", "failed")
        assert found[mails[1].id] == ("expired" if "wait" in odd else "failed")


async def test_an_error_of_the_server_fails_no_mail(
    database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missing right or table fails no mail: the worker ends, and all mail is returned."""
    async with scripted() as server, session(database) as conn:
        await account_at(conn, server)
        await make.queued_emails(conn, 3)

        async def take(*_: Any, **__: Any) -> claims_store.Taken:
            raise errors.InsufficientPrivilege("permission denied")

        monkeypatch.setattr(claims_store, "take", take)
        monkeypatch.setattr(claims_store, "claim", take)
        with pytest.raises(errors.InsufficientPrivilege):
            async with courier(database, tmp_path) as running:
                await asyncio.wait((running,))
        assert await make.rows(conn, "SELECT DISTINCT status FROM mailqueue.email_queue") == [
            ("pending",)
        ]
