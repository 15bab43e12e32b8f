"""Caught mail is stored exactly; simulator addresses reply as documented."""

import asyncio
import smtplib
from dataclasses import replace
from datetime import timedelta

import pytest

from mailqueue.core.errors import ConfigError
from mailqueue.core.secret import Secret
from mailqueue.db.pool import connect, open_pool
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.trap import inbox
from mailqueue.trap.model import TrapMessage
from mailqueue.trap.simulator import BEHAVIOUR_BY_NAME
from tests.smtp.server.serving import connected, mail
from tests.trap.trapping import HTML, mail_to, on, trapping

pytestmark = pytest.mark.anyio

SHORT_WAITS = {
    name: replace(each, wait=min(each.wait, timedelta(milliseconds=20)))
    for name, each in BEHAVIOUR_BY_NAME.items()
}


async def everything(database: DatabaseSettings) -> list[TrapMessage]:
    async with connect(database) as conn:
        return [message async for message in inbox.read_all(conn)]


async def test_a_message_is_kept_exactly_and_shown_decoded(database: DatabaseSettings) -> None:
    async with trapping(database) as trap:
        refused = await mail_to(trap, "bob@example.org", "Carol@Example.net")

    assert refused == {}
    (caught,) = await everything(database)
    assert caught.raw == HTML
    assert caught.size_bytes == len(HTML)
    assert caught.mail_from == "ann@example.com"
    assert caught.rcpt_to == ["bob@example.org", "Carol@Example.net"]
    assert caught.subject == "Receipt 😊 for you"
    assert caught.from_header == "Anné <ann@example.com>"
    assert caught.preview == "Thank you for the order."


@pytest.mark.deep
async def test_the_answer_comes_after_the_commit(database: DatabaseSettings) -> None:
    async with (
        trapping(database) as trap,
        connect(database) as other,
        connected(trap.port) as client,
    ):
        await other.execute("BEGIN")
        await other.execute("LOCK mailqueue.trap_messages IN SHARE MODE")
        client.send(mail(b"Subject: x\r\n\r\nwaits\r\n"))
        assert await client.codes(3) == ["250", "250", "354"]
        answer = asyncio.create_task(client.answer())
        await asyncio.sleep(0.1)
        assert not answer.done()
        await other.execute("COMMIT")
        assert await answer == "250 2.0.0 caught"

    assert len(await everything(database)) == 1


async def test_many_messages_at_once_are_all_kept_in_few_transactions(
    database: DatabaseSettings,
) -> None:
    async with trapping(database) as trap, connected(trap.port) as client:
        client.send(b"".join(mail(b"Subject: %d\r\n\r\nx\r\n" % n) for n in range(500)))
        assert (await client.codes(2000))[3::4] == ["250"] * 500

    caught = await everything(database)
    assert [message.subject for message in caught] == [str(n) for n in reversed(range(500))]
    assert len({message.received_at for message in caught}) > 0
    async with connect(database) as conn:
        row = await (
            await conn.execute("SELECT count(DISTINCT xmin::text) FROM mailqueue.trap_messages")
        ).fetchone()
    assert row is not None
    assert row[0] <= 50


async def test_hostile_bytes_are_kept_like_any_others(database: DatabaseSettings) -> None:
    messages = [
        b"Subject: nul \x00 here\r\nFrom: \xff\xfe\r\n\r\n\x00body\r\n",
        b"Subject: =?utf-7?q?+2AA-?=\r\n\r\nlone surrogate\r\n",
        b"\x00\x01\x02\r\n",
        b"",
    ]

    async with trapping(database) as trap, connected(trap.port) as client:
        client.send(b"".join(mail(raw) for raw in messages))
        assert (await client.codes(16))[3::4] == ["250"] * 4

    assert [message.raw for message in reversed(await everything(database))] == messages


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("bounced", "550 5.1.1 no such mailbox (simulated)"),
        ("Deferred+tag", "451 4.3.0 try again later (simulated)"),
    ],
)
async def test_addresses_that_refuse_at_rcpt(
    database: DatabaseSettings, name: str, line: str
) -> None:
    async with trapping(database) as trap, connected(trap.port) as client:
        await client.ask(b"MAIL FROM:<a@example.org>")
        assert await client.ask(b"RCPT TO:<%s@simulator.example>" % name.encode()) == line
        assert (await client.ask(b"RCPT TO:<%s@example.com>" % name.encode()))[:3] == "250"
        assert (await client.ask(b"RCPT TO:<other@simulator.example>"))[:3] == "250"


async def test_busy_closes_the_connection(database: DatabaseSettings) -> None:
    async with trapping(database) as trap, connected(trap.port) as client:
        await client.ask(b"MAIL FROM:<a@example.org>")
        client.send(b"RCPT TO:<busy@simulator.example>\r\nNOOP\r\n")
        assert await client.rest() == "421 4.3.2 too busy, closing (simulated)\r\n"


async def test_rejected_refuses_after_the_data_and_keeps_nothing(
    database: DatabaseSettings,
) -> None:
    async with trapping(database) as trap:
        with pytest.raises(smtplib.SMTPDataError) as raised:
            await mail_to(trap, "ann@example.com", "rejected@simulator.example")

    assert raised.value.smtp_code == 554
    assert await everything(database) == []


async def test_slow_is_kept_and_answered_late_without_holding_up_others(
    database: DatabaseSettings,
) -> None:
    assert BEHAVIOUR_BY_NAME["slow"].wait == timedelta(seconds=5)
    behaviours = {**BEHAVIOUR_BY_NAME, **SHORT_WAITS}

    async with (
        trapping(database, behaviours=behaviours) as trap,
        connected(trap.port) as slow,
        connected(trap.port) as quick,
    ):
        slow.send(mail(b"slow\r\n", to=b"slow@simulator.example"))
        quick.send(mail(b"quick\r\n"))
        assert await quick.codes(4) == ["250", "250", "354", "250"]
        assert await slow.codes(4) == ["250", "250", "354", "250"]

    assert len(await everything(database)) == 2


async def test_silent_is_kept_and_never_answered(database: DatabaseSettings) -> None:
    assert BEHAVIOUR_BY_NAME["silent"].wait == timedelta(minutes=15)

    async with (
        trapping(database, behaviours=SHORT_WAITS) as trap,
        connected(trap.port) as client,
    ):
        client.send(mail(b"x\r\n", to=b"silent@simulator.example") + b"NOOP\r\n")
        assert await client.codes(3) == ["250", "250", "354"]
        assert await client.rest() == ""

    assert len(await everything(database)) == 1


async def test_a_database_that_is_away_defers_the_mail(database: DatabaseSettings) -> None:
    async with open_pool(database) as pool, on(pool, database) as trap, connect(database) as other:
        await other.execute("ALTER TABLE mailqueue.trap_messages RENAME TO elsewhere")
        await other.execute(
            "CREATE VIEW mailqueue.trap_messages AS SELECT * FROM mailqueue.elsewhere"
        )
        await other.execute(
            "CREATE FUNCTION mailqueue.lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            "PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$"
        )
        await other.execute(
            "CREATE TRIGGER lose INSTEAD OF INSERT ON mailqueue.trap_messages "
            "FOR EACH ROW EXECUTE FUNCTION mailqueue.lose()"
        )
        async with connected(trap.port) as client:
            client.send(mail(b"x\r\n"))
            assert await client.codes(4) == ["250", "250", "354", "451"]
            await other.execute("DROP TRIGGER lose ON mailqueue.trap_messages")
            client.send(mail(b"x\r\n"))
            assert await client.codes(4) == ["250", "250", "354", "250"]


async def test_outside_loopback_a_password_is_needed(database: DatabaseSettings) -> None:
    with pytest.raises(ConfigError, match="MAILQUEUE_TRAP_PASSWORD"):
        async with trapping(database, host="0.0.0.0"):
            pass


async def test_with_a_password_clients_must_log_in(database: DatabaseSettings) -> None:
    async with trapping(database, host="0.0.0.0", password=Secret("geheim")) as trap:
        with pytest.raises(smtplib.SMTPSenderRefused):
            await mail_to(trap)
        with pytest.raises(smtplib.SMTPAuthenticationError):
            await mail_to(trap, password="wrong")
        await mail_to(trap, password="geheim")

    assert len(await everything(database)) == 1


async def test_a_port_in_use_is_named_with_its_option(database: DatabaseSettings) -> None:
    async with trapping(database) as trap:
        with pytest.raises(ConfigError, match=f"--trap-port .*127.0.0.1:{trap.port}"):
            async with trapping(database, port=trap.port):
                pass


async def test_a_database_without_the_schema_defers_the_mail(empty_db: str) -> None:
    async with (
        trapping(DatabaseSettings(Secret(empty_db))) as trap,
        connected(trap.port) as client,
    ):
        client.send(mail(b"x\r\n") * 2)
        assert await client.codes(8) == ["250", "250", "354", "451"] * 2
