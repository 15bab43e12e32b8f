"""A message to many recipients is accepted or refused as a whole."""

import re
import signal
import smtplib
import threading
from pathlib import Path
from uuid import UUID

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.projects.keys.manage import issue_key
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.submission.killed_server import Server
from tests.submission.programs import QUEUED, RunningSubmission, beside, message

pytestmark = pytest.mark.anyio


def people(count: int, *, domain: str = "many.example") -> list[str]:
    return [f"p{n}@{domain}" for n in range(count)]


async def written_to(conn: Conn, subject: str) -> list[list[str]]:
    """Return the recipients of each mail with a subject."""
    found = await make.rows(
        conn,
        "SELECT coalesce((SELECT array_agg(r.address) FROM mailqueue.email_recipients AS r"
        " WHERE r.email_id = e.id), ARRAY[e.recipient_email])"
        " FROM mailqueue.emails AS e WHERE e.subject = %s ORDER BY e.id",
        subject,
    )
    return [row[0] for row in found]


def everyone(mails: list[list[str]]) -> list[str]:
    assert all(len(some) <= 50 for some in mails)
    return sorted(address for some in mails for address in some)


@pytest.mark.parametrize("count", [50, 51, 99, 100, 1000])
async def test_smtplib_hands_in_for_as_many(
    smtp: RunningSubmission, database: Conn, count: int
) -> None:
    subject = f"To {count}"

    def send() -> dict[str, tuple[int, bytes]]:
        with smtp.client() as client:
            made = message(Subject=subject, To="first@many.example")
            return client.send_message(made, to_addrs=people(count))

    assert await beside(send) == {}

    mails = await written_to(database, subject)
    assert len(mails) == -(-count // 50)
    assert everyone(mails) == sorted(people(count))


async def test_the_answer_names_the_first_mail_and_how_many_there_are(
    smtp: RunningSubmission, database: Conn
) -> None:
    def send() -> str:
        with smtp.client() as client:
            client.mail("a@example.com")
            for address in people(120):
                client.rcpt(address)
            code, said = client.data(str(message(Subject="Named")))
            assert code == 250
            return said.decode()

    said = await beside(send)

    found = re.fullmatch(f"2\\.0\\.0 {QUEUED}([0-9a-f-]+) and 2 more", said)
    assert found is not None, said
    ids = await make.scalar(
        database, "SELECT email_ids FROM mailqueue.batches WHERE id = %s", UUID(found[1])
    )
    assert len(ids) == 3
    assert ids[0] == UUID(found[1])


async def test_a_message_with_too_many_recipients_is_sent_to_none(
    smtp: RunningSubmission, database: Conn
) -> None:
    """The recipient beyond the bound is refused temporarily, and the message permanently."""

    def send() -> tuple[tuple[int, bytes], UUID]:
        with smtp.client() as client:
            assert client.esmtp_features["limits"] == "RCPTMAX=1000"
            client.mail("a@example.com")
            codes = [client.rcpt(address) for address in people(1001)]
            assert {code for code, _ in codes[:1000]} == {250}
            assert codes[1000][0] == 452
            assert codes[1000][1].startswith(b"4.5.3 ")
            refused = client.docmd("DATA")
            # The transaction is over, also for a program that does not reset it.
            client.mail("a@example.com")
            client.rcpt("ann@example.com")
            code, said = client.data(str(message(Subject="Next")))
            assert code == 250
            return refused, UUID(said.decode().partition(QUEUED)[2])

    (code, said), following = await beside(send)

    assert code == 554
    assert said.startswith(b"5.5.3 ")
    assert b"too many recipients" in said
    found = "SELECT count(*) FROM mailqueue.emails WHERE recipient_email LIKE '%%@many.example'"
    found += " AND id > %s"
    assert await make.scalar(database, found, following) == 0


async def test_smtplib_raises_unless_all_recipients_are_accepted(
    smtp: RunningSubmission, database: Conn
) -> None:
    def send() -> None:
        with smtp.client() as client:
            with pytest.raises(smtplib.SMTPDataError, match="too many recipients"):
                client.send_message(message(Subject="Too many"), to_addrs=people(1001))
            client.send_message(message(Subject="After too many"), to_addrs=["ann@example.com"])

    await beside(send)

    assert await written_to(database, "Too many") == []
    assert await written_to(database, "After too many") == [["ann@example.com"]]


async def test_too_many_recipients_before_a_reset_count_for_nothing(
    smtp: RunningSubmission, database: Conn
) -> None:
    def send() -> int:
        with smtp.client() as client:
            client.mail("a@example.com")
            for address in people(1001):
                client.rcpt(address)
            client.rset()
            client.send_message(message(Subject="After a reset"), to_addrs=people(60))
            return 0

    assert await beside(send) == 0
    assert everyone(await written_to(database, "After a reset")) == sorted(people(60))


async def test_one_recipient_given_twice_is_one(smtp: RunningSubmission, database: Conn) -> None:
    def send() -> None:
        with smtp.client() as client:
            given = people(60) + people(60)
            client.send_message(message(Subject="Twice"), to_addrs=given)

    await beside(send)

    assert everyone(await written_to(database, "Twice")) == sorted(people(60))


async def test_a_message_refused_by_its_content_is_refused_for_all_its_mails(
    smtp: RunningSubmission, database: Conn
) -> None:
    def send() -> None:
        made = message(Subject="Refused", X_Mailqueue_Sender="nobody")
        with smtp.client() as client, pytest.raises(smtplib.SMTPDataError, match="nobody"):
            client.send_message(made, to_addrs=people(500))

    await beside(send)

    assert await written_to(database, "Refused") == []


@pytest.mark.parametrize("messages", [6, pytest.param(24, marks=pytest.mark.soak)])
async def test_a_server_that_dies_has_taken_all_mails_of_a_message_or_none(
    messages: int, fresh_db: str, tmp_path: Path
) -> None:
    """A client submits the same messages repeatedly while the server is killed."""
    async with connect(DatabaseSettings(Secret(fresh_db))) as conn:
        await make.sender_account(conn)
        issued = await issue_key(conn, "default", "k", is_test=False, requests_per_second=100_000)
        key = issued.key.reveal()
        server = Server(fresh_db, tmp_path)
        names = [f"m{n}" for n in range(messages)]

        def attempt(name: str) -> bool:
            made = message(Subject=name, Message_ID=f"<{name}@example.com>")
            try:
                with smtplib.SMTP("127.0.0.1", server.port, timeout=60) as client:
                    client.login("apikey", key)
                    client.send_message(made, to_addrs=people(400))
            except (OSError, smtplib.SMTPException):
                return False
            return True

        def run() -> None:
            server.start()
            for number, name in enumerate(names):
                if number % 3 == 0:
                    killer = threading.Timer(0.02 * (number + 1), server.end, [signal.SIGKILL])
                    killer.start()
                    taken = attempt(name)
                    killer.join()
                    server.start()
                    if taken:
                        continue
                for _ in range(20):
                    if attempt(name):
                        break
                else:
                    raise AssertionError(name)
            server.end(signal.SIGTERM)

        await beside(run)

        for name in names:
            mails = await written_to(conn, name)
            assert len(mails) == 8
            assert everyone(mails) == sorted(people(400))
