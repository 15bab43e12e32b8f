"""Mail submitted by SMTP is queued unchanged, durably before the reply; repetitions are one
mail.
"""

import asyncio
import smtplib
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.projects.keys.manage import issue_key, revoke_key
from tests import make
from tests.submission.programs import (
    RunningSubmission,
    answered,
    beside,
    handed_in,
    mails,
    message,
    running,
)

pytestmark = pytest.mark.anyio

PLAIN = b"From: shop@example.com\r\nTo: ann@example.com\r\nSubject: Hi\r\n\r\nHello\r\n"


async def test_smtplib_hands_in_under_starttls_and_tls(
    smtp: RunningSubmission, database: Conn
) -> None:
    def send() -> None:
        with smtp.client() as client:
            client.send_message(message(Subject="By STARTTLS"))
        with smtplib.SMTP_SSL(
            "localhost", smtp.tls_port, context=smtp.context(), timeout=60
        ) as client:
            client.login("anything", smtp.key)
            client.send_message(message(Subject="By TLS"))
        with smtplib.SMTP("localhost", smtp.port, timeout=60) as client:
            client.login("in clear, on this machine", smtp.key)
            client.send_message(message(Subject="In clear"))

    await beside(send)

    found = await make.rows(
        database,
        "SELECT subject FROM mailqueue.emails WHERE subject LIKE '%% TLS' OR subject LIKE '%%TLS'"
        " OR subject = 'In clear' ORDER BY subject",
    )
    assert found == [("By STARTTLS",), ("By TLS",), ("In clear",)]


async def test_one_message_with_many_recipients_is_one_mail(
    smtp: RunningSubmission, database: Conn
) -> None:
    addresses = [f"person{n}@example.com" for n in range(50)]

    def send() -> UUID:
        with smtp.client() as client:
            return handed_in(client, PLAIN, *addresses)

    email_id = await beside(send)

    query = "SELECT count(*) FROM mailqueue.email_recipients WHERE email_id = %s"
    assert await make.scalar(database, query, email_id) == 50


async def test_the_answer_carries_the_id_and_comes_after_the_commit(
    smtp: RunningSubmission, database: Conn
) -> None:
    def send() -> Iterator[UUID]:
        with smtp.client() as client:
            for _ in range(3):
                yield handed_in(client, PLAIN)

    for email_id in await beside(lambda: list(send())):
        assert await mails(database, [email_id]) == [("ann@example.com", "pending", "Hi")]


async def test_many_at_once_share_commits_and_each_is_there(
    smtp: RunningSubmission, database: Conn
) -> None:
    def send(number: int) -> list[UUID]:
        with smtp.client() as client:
            return [handed_in(client, PLAIN, f"p{number}@example.com") for _ in range(10)]

    found = await asyncio.gather(*(beside(send, number) for number in range(8)))

    ids = [one for some in found for one in some]
    assert len(await mails(database, ids)) == len(set(ids)) == 80


async def test_the_same_message_again_is_the_same_mail(smtp: RunningSubmission) -> None:
    """A program that missed the reply submits the same bytes again."""
    named = PLAIN.replace(b"Subject", b"Message-ID: <81@example.com>\r\nSubject")
    keyed = b"X-Mailqueue-Idempotency-Key: order-81\r\n"

    def send() -> list[UUID]:
        with smtp.client() as client:
            return [
                handed_in(client, octets)
                for octets in (
                    named,
                    named,
                    keyed + b"Message-ID: <1@example.com>\r\n" + PLAIN,
                    keyed + b"Message-ID: <2@example.com>\r\n" + PLAIN,
                )
            ]

    first, again, keyed_first, keyed_again = await beside(send)

    assert first == again
    assert keyed_first == keyed_again != first


async def test_suppressed_recipients_are_taken_and_finished(
    smtp: RunningSubmission, database: Conn
) -> None:
    await make.inserted(
        database,
        "suppressions",
        {
            "project_id": await make.project_named(database),
            "address": "stopped@example.com",
            "reason": "hard_bounce",
        },
    )

    def send() -> UUID:
        with smtp.client() as client:
            return handed_in(client, PLAIN, "stopped@example.com")

    assert await mails(database, [await beside(send)]) == [
        ("stopped@example.com", "suppressed", "Hi")
    ]


@pytest.mark.parametrize(
    ("octets", "answer"),
    [
        (b"To: a@example.com\r\n\r\n", (550, "5.7.1 From: ")),
        (b"X-Mailqueue-Nothing: 1\r\n" + PLAIN, (554, "5.5.4 X-Mailqueue-Nothing: ")),
        (b"X-Mailqueue-Sender: nobody\r\n" + PLAIN, (554, "5.5.4 sender: ")),
        (b"Received: x\r\n" * 51 + PLAIN, (554, "5.4.6 message: ")),
        (b"no header\r\n", (554, "5.6.0 message: ")),
        (PLAIN + b"x" * 999, (554, "5.6.0 a line")),
        (
            b'Content-Type: application/x-thing; name="a.exe"\r\n' + PLAIN,
            (554, "5.6.1 attachments: application/x-thing is not allowed"),
        ),
        (
            b'Content-Type: application/pdf; name="a.pdf"\r\n'
            + PLAIN
            + b"%PDF-1.7"
            + (b"x" * 900 + b"\r\n") * 4_700,
            (552, "5.3.4 attachments: "),
        ),
    ],
)
async def test_what_is_refused_is_said(
    smtp: RunningSubmission, octets: bytes, answer: tuple[int, str]
) -> None:
    def send() -> tuple[int, str]:
        with smtp.client() as client:
            refused = answered(client, octets)
            handed_in(client, PLAIN)  # and the conversation goes on
            return refused

    code, said = await beside(send)

    assert (code, said[: len(answer[1])]) == answer


async def test_messages_are_as_large_as_the_project_says(smtp: RunningSubmission) -> None:
    def send() -> list[int]:
        with smtp.client() as client:
            client.ehlo()
            most = int(client.esmtp_features["size"])
            return [most, client.mail("a@example.com", [f"SIZE={most + 1}"])[0]]

    most, code = await beside(send)

    assert most == 10_485_760 + int(4_194_304 * 1.38) + 1
    assert code == 552


@pytest.mark.parametrize(
    "recipient", ["postmaster", "ann@localhost", '"a b"@example.com', "a@[127.0.0.1]", "a@ex..com"]
)
async def test_who_cannot_be_written_to_is_refused_at_once(
    smtp: RunningSubmission, recipient: str
) -> None:
    def send() -> tuple[int, bytes]:
        with smtp.client() as client:
            client.mail("a@example.com")
            return client.docmd(f"RCPT TO:<{recipient}>")

    code, said = await beside(send)

    assert (code, said[:6]) == (553, b"5.1.3 ")


async def test_an_address_beyond_ascii_comes_with_smtputf8(
    smtp: RunningSubmission, database: Conn
) -> None:
    def send() -> UUID:
        with smtp.client() as client:
            client.ehlo()
            client.command_encoding = "utf-8"
            assert client.rcpt("jürgen@example.com")[0] == 503
            assert client.mail("a@example.com", ["SMTPUTF8", "BODY=8BITMIME"])[0] == 250
            assert client.docmd("RCPT TO:<jürgen@exämple.com>")[0] == 250
            code, said = client.data(PLAIN + "grün\r\n".encode())
            assert code == 250
            return UUID(said.decode().rpartition(" ")[2])

    assert await mails(database, [await beside(send)]) == [
        ("jürgen@xn--exmple-cua.com", "pending", "Hi")
    ]


async def test_mail_of_a_test_key_goes_to_the_trap(smtp: RunningSubmission, database: Conn) -> None:
    project = await make.project(database, "tried")
    account = await make.sender_account(
        database, project_id=project, name="trap", provider="trap", smtp_tls="none"
    )
    await make.sender_account(database, project_id=project, name="real", priority=1)
    key = await issue_key(database, "tried", "t", is_test=True)

    def send() -> UUID:
        with smtp.client(key=key.key.reveal()) as client:
            refused = answered(client, b"X-Mailqueue-Sender: real\r\n" + PLAIN)
            assert refused[0] == 554
            assert "trap must be the sender account of this email" in refused[1]
            return handed_in(client, b"X-Mailqueue-Sender: trap\r\n" + PLAIN)

    email_id = await beside(send)

    route = await make.scalar(
        database,
        "SELECT l.route FROM mailqueue.email_queue AS q JOIN mailqueue.lanes AS l"
        " ON l.id = q.lane_id WHERE q.id = %s",
        email_id,
    )
    assert account
    assert route == "(test)"


async def test_a_key_that_is_revoked_ends_the_conversation(
    smtp: RunningSubmission, database: Conn
) -> None:
    key = await issue_key(database, "default", "revoked", is_test=False)
    client = await beside(lambda: smtp.client(key=key.key.reveal()))
    await revoke_key(database, "default", "revoked")

    code, said = await beside(answered, client, PLAIN)

    assert (code, said[:6]) == (421, "4.7.0 ")
    client.close()


async def test_messages_beyond_the_rate_wait_for_their_turn(
    smtp: RunningSubmission, database: Conn
) -> None:
    """A program without its own queue loses no mail."""
    key = await issue_key(database, "default", "steady", is_test=False, requests_per_second=2)

    def send() -> list[int]:
        with smtp.client(key=key.key.reveal()) as client:
            return [answered(client, PLAIN)[0] for _ in range(22)]

    assert await beside(send) == [250] * 22


async def test_a_client_beyond_the_rate_for_too_long_is_disconnected(
    module_db: str, database: Conn, tmp_path: Path
) -> None:
    async with running(module_db, database, tmp_path, patience_s=0) as own:
        key = await issue_key(database, "default", "slow", is_test=False, requests_per_second=1)

        def send() -> list[tuple[int, str]]:
            client = own.client(key=key.key.reveal())
            found = [answered(client, PLAIN)]
            while found[-1][0] != 421:
                found.append(answered(client, PLAIN))
            client.close()
            return found

        found = await beside(send)

    codes = [code for code, _ in found]
    assert codes[:9] == [250] * 9
    assert codes.count(450) == 10
    for code, said in found:
        assert code == 250 or said.startswith("4.7.0 too many messages, try again in ")
