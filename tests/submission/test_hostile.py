"""Malicious clients, clients that disconnect, and an unavailable database."""

import asyncio
import smtplib
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from psycopg import AsyncConnection, sql

from mailqueue.core.errors import MailqueueError, NotFound, ProjectFull, StorageFull, Unavailable
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.projects.keys.manage import not_in_force
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.submission.handler import trouble
from tests import make
from tests.conftest import Server
from tests.smtp.server.serving import RawClient
from tests.submission.programs import RunningSubmission, answered, beside, handed_in, running

pytestmark = pytest.mark.anyio

PLAIN = b"From: shop@example.com\r\nTo: ann@example.com\r\nSubject: Hi\r\n\r\nHello\r\n"
ENVELOPE = b"MAIL FROM:<a@example.com>\r\nRCPT TO:<ann@example.com>\r\nDATA\r\n"


@asynccontextmanager
async def talking(smtp: RunningSubmission, *, is_known: bool = True) -> AsyncIterator[RawClient]:
    """Yield a client that sends raw bytes, logged in if it has a key."""
    client = RawClient(*await asyncio.open_connection("127.0.0.1", smtp.port))
    try:
        assert (await client.answer()).startswith("220 mx.example.com ")
        assert (await client.ask(b"EHLO client.example"))[:3] == "250"
        if is_known:
            assert (await client.ask(b"AUTH PLAIN " + login(smtp.key)))[:3] == "235"
        yield client
    finally:
        client.writer.close()


def login(key: str) -> bytes:
    return b64encode(f"\0apikey\0{key}".encode())


async def count(conn: Conn) -> int:
    found: int = await make.scalar(conn, "SELECT count(*) FROM mailqueue.emails")
    return found


async def test_what_is_offered(smtp: RunningSubmission) -> None:
    async with talking(smtp, is_known=False) as client:
        offers = (await client.ask(b"EHLO client.example")).split("|")

    assert {offer[4:] for offer in offers} == {
        "mx.example.com",
        "PIPELINING",
        "8BITMIME",
        "SMTPUTF8",
        "SIZE 52428800",
        "ENHANCEDSTATUSCODES",
        "LIMITS RCPTMAX=1000",
        "STARTTLS",
        "AUTH PLAIN LOGIN",
    }


async def test_unauthenticated_clients_cannot_submit_mail(
    smtp: RunningSubmission, database: Conn
) -> None:
    before = await count(database)
    async with talking(smtp, is_known=False) as client:
        assert (await client.ask(b"MAIL FROM:<a@example.com>"))[:9] == "530 5.7.0"
        assert (await client.ask(b"RCPT TO:<ann@example.com>"))[:3] == "503"
        assert (await client.ask(b"DATA"))[:3] == "503"
    assert await count(database) == before


async def test_a_smuggled_message_is_no_message(smtp: RunningSubmission, database: Conn) -> None:
    inner = b"MAIL FROM:<evil@example.com>\r\nRCPT TO:<victim@example.com>\r\nDATA\r\n" + PLAIN
    ends = [b"\n.\n", b"\n.\r\n", b"\r.\r", b"\r.\r\n", b"\r\n.\n", b"\r\n.\r", b"\r\n\0.\r\n"]
    async with talking(smtp) as client:
        for end in ends:
            client.send(ENVELOPE)
            assert await client.codes(3) == ["250", "250", "354"]
            client.send(PLAIN + b"x" + end + inner + b"\r\n.\r\n")
            assert (await client.answer())[:7] in ("550 5.5", "550 5.6")
        assert await client.ask(b"RSET") == "250 2.0.0 ok"
    query = "SELECT count(*) FROM mailqueue.emails WHERE recipient_email LIKE 'victim%%'"
    assert await make.scalar(database, query) == 0


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"A" * 3_000,
        b"MAIL FROM:<a@example.com>\n",
        b"\0" * 3_000,
        b"\r\n" * 30,
        b"X\r\n" * 30,
        b"EHLO a\r\nMAIL FROM:<a@example.com>\r\n",
        b"STARTTLS\r\nEHLO a\r\n",
    ],
)
async def test_garbage_ends_its_own_conversation(smtp: RunningSubmission, sent: bytes) -> None:
    async with talking(smtp) as client:
        client.send(sent)
        client.writer.write_eof()
        await asyncio.wait_for(client.reader.read(), 60)
    async with talking(smtp) as client:
        assert await client.ask(b"NOOP") == "250 2.0.0 ok"


async def test_who_vanishes_in_the_middle_leaves_nothing(
    smtp: RunningSubmission, database: Conn
) -> None:
    before = await count(database)
    async with talking(smtp) as client:
        client.send(ENVELOPE)
        assert await client.codes(3) == ["250", "250", "354"]
        client.send(PLAIN)
        client.writer.transport.abort()
    async with talking(smtp) as client:
        assert await client.ask(b"NOOP") == "250 2.0.0 ok"
    assert await count(database) == before


async def test_wrong_keys_are_refused_and_then_hung_up_on(
    module_db: str, database: Conn, tmp_path: Path
) -> None:
    async with (
        running(module_db, database, tmp_path) as own,
        talking(own, is_known=False) as client,
    ):
        answers = [await client.ask(b"AUTH PLAIN " + login(f"wrong{n}")) for n in range(3)]
        assert [each[:9] for each in answers] == ["535 5.7.8", "535 5.7.8", "421 4.7.0"]
        assert await client.rest() == ""


@pytest.mark.parametrize(
    ("fault", "answer"),
    [
        (Unavailable("PostgreSQL is away"), "451 4.3.0"),
        (StorageFull("the disk is full"), "452 4.3.1"),
        (ProjectFull("max_queued_emails", "project shop is full"), "452 4.2.2 project shop"),
        (not_in_force(), "421 4.7.0"),
        (NotFound("project", "x"), "550 5.7.1"),
    ],
)
def test_what_is_no_fault_of_the_message_is_said_so(fault: MailqueueError, answer: str) -> None:
    assert trouble(fault).line().decode().startswith(answer)


@pytest.mark.soak
async def test_with_the_database_away_mail_is_asked_for_later(
    server: Server, fresh_db: str, tmp_path: Path
) -> None:
    """PostgreSQL becomes unavailable during a conversation; the client keeps its mail and
    retries.
    """
    name = sql.Identifier(fresh_db.rpartition("/")[2])
    shut = sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}")
    settings = DatabaseSettings(Secret(fresh_db))
    async with (
        connect(settings) as conn,
        running(fresh_db, conn, tmp_path) as own,
        await AsyncConnection.connect(server.superuser, autocommit=True) as superuser,
    ):
        client = await beside(own.client)
        await beside(handed_in, client, PLAIN)
        await superuser.execute(shut.format(name, sql.SQL("false")))
        await superuser.execute(
            "SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity AS a"
            " WHERE a.datname = %s AND a.application_name = 'submission'",
            (fresh_db.rpartition("/")[2],),
        )
        code, said = await beside(answered, client, PLAIN)
        refused = await beside(_login_refused, own)
        await superuser.execute(shut.format(name, sql.SQL("true")))

        assert (code, said[:6]) == (451, "4.3.0 ")
        assert refused == (454, b"4.7.0 ")
        async with asyncio.timeout(60):
            while (await beside(answered, client, PLAIN))[0] != 250:
                pass
        client.close()


def _login_refused(own: RunningSubmission) -> tuple[int, bytes]:
    with smtplib.SMTP("127.0.0.1", own.port, timeout=60) as client:
        code, said = client.docmd("EHLO x")
        code, said = client.docmd("AUTH PLAIN " + login(f"mq_live_{'A' * 43}").decode())
        return code, said[:6]


async def test_a_stop_answers_what_was_handed_over_and_says_goodbye(
    module_db: str, database: Conn, tmp_path: Path
) -> None:
    before = await count(database)
    async with running(module_db, database, tmp_path) as own:
        client = RawClient(*await asyncio.open_connection("127.0.0.1", own.port))
        await client.answer()
        await client.ask(b"EHLO x")
        await client.ask(b"AUTH PLAIN " + login(own.key))
        client.send(ENVELOPE)
        assert await client.codes(3) == ["250", "250", "354"]
        client.send(PLAIN + b".\r\n")
        async with asyncio.timeout(60):
            while await count(database) == before:
                pass
    rest = await client.rest()
    assert rest.startswith("250 2.0.0 Ok: queued as ")
    assert rest.count("421 4.3.2") <= 1
    client.writer.close()


async def test_a_full_disk_and_a_closed_project_are_told_apart(
    smtp: RunningSubmission, database: Conn
) -> None:
    await database.execute(
        "INSERT INTO mailqueue.refusals (reason, message, valid_until)"
        " VALUES ('no room', 'no room', now() + '1 h')"
    )
    try:
        code, said = await beside(_handed, smtp)
    finally:
        await database.execute("DELETE FROM mailqueue.refusals")
    assert (code, said[:6]) == (452, "4.3.1 ")


def _handed(smtp: RunningSubmission) -> tuple[int, str]:
    with smtp.client() as client:
        return answered(client, PLAIN)
