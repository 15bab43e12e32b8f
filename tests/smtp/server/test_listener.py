"""The SMTP server with published clients, and with attacks."""

import asyncio
import smtplib
from email.message import EmailMessage

import aiosmtplib
import pytest

from tests.smtp.server.serving import Memory, connected, mail, serving

pytestmark = pytest.mark.anyio


async def test_smtplib_gets_a_message_across_unchanged() -> None:
    memory = Memory()
    message = b"Subject: dots\r\n\r\n.first\r\n..second\r\n.\r\nlast\r\n"

    def send(port: int) -> dict[str, tuple[int, bytes]]:
        with smtplib.SMTP("127.0.0.1", port, timeout=60) as smtp:
            return smtp.sendmail("bob@example.org", ["ann@example.com", "nobody@x.org"], message)

    async with serving(memory) as port:
        refused = await asyncio.to_thread(send, port)

    (envelope, raw) = memory.taken[0]
    assert raw == message
    assert (envelope.sender, envelope.recipients) == ("bob@example.org", ("ann@example.com",))
    assert refused == {"nobody@x.org": (550, b"5.1.1 no such user")}


async def test_aiosmtplib_gets_utf8_addresses_and_bodies_across() -> None:
    memory = Memory()
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "bø@example.org", "jürgen@example.com", "✉"
    message.set_content("Grüße\n" * 10, cte="8bit")

    async with (
        serving(memory) as port,
        aiosmtplib.SMTP(hostname="127.0.0.1", port=port, use_tls=False, start_tls=False) as smtp,
    ):
        await smtp.send_message(message, mail_options=["BODY=8BITMIME"])

    envelope, raw = memory.taken[0]
    assert envelope.recipients == ("jürgen@example.com",)
    assert envelope.needs_smtputf8
    assert "Grüße\r\n".encode() in raw


async def test_the_offers_are_those_that_are_kept() -> None:
    async with serving() as port, connected(port, greeted=False) as client:
        offers = (await client.ask(b"EHLO client.example")).split("|")

    assert [offer[4:] for offer in offers] == [
        "localhost",
        "PIPELINING",
        "8BITMIME",
        "SMTPUTF8",
        "SIZE 52428800",
        "ENHANCEDSTATUSCODES",
    ]


SMUGGLED = mail(b"Subject: second\r\n\r\nsmuggled\r\n")


@pytest.mark.parametrize(
    "end",
    [
        b"\n.\n",
        b"\n.\r\n",
        b"\r\n.\n",
        b"\r.\r",
        b"\r.\r\n",
        b"\r\n.\r",
        b"\n\n.\r\n",
        b"\r\n\0.\r\n",
    ],
)
async def test_nothing_but_cr_lf_dot_cr_lf_ends_a_message(end: bytes) -> None:
    memory = Memory()
    body = b"Subject: first\r\n\r\nbefore" + end + SMUGGLED[: -len(b".\r\n")]

    async with serving(memory) as port, connected(port) as client:
        client.send(mail(body))
        assert await client.codes(4) == ["250", "250", "354", "250"]
        assert (await client.ask(b"NOOP"))[:3] == "250"

    assert memory.raws == [body.replace(b"\r\n.", b"\r\n")]


async def test_bare_line_ends_stay_in_the_content() -> None:
    memory = Memory()
    body = b"Subject: x\n\r\na\rb\nc\r\n.\n\r\n..\r\n"

    async with serving(memory) as port, connected(port) as client:
        client.send(mail(body))
        await client.codes(4)

    assert memory.raws == [b"Subject: x\n\r\na\rb\nc\r\n\n\r\n.\r\n"]


async def test_a_dot_right_behind_data_is_an_empty_message() -> None:
    memory = Memory()

    async with serving(memory) as port, connected(port) as client:
        client.send(mail(b"") + mail(b"\r\n"))
        assert await client.codes(8) == ["250", "250", "354", "250"] * 2

    assert memory.raws == [b"", b"\r\n"]


async def test_a_command_that_ends_in_a_bare_lf_ends_the_conversation() -> None:
    memory = Memory()

    async with serving(memory) as port, connected(port) as client:
        client.send(b"NOOP\nMAIL FROM:<bob@example.org>\r\n")
        assert await client.rest() == "500 5.5.2 lines must end with CR LF\r\n"


@pytest.mark.parametrize("octet", [b"\r", b"\0"])
async def test_a_command_with_a_bare_cr_or_nul_is_refused_whole(octet: bytes) -> None:
    async with serving() as port, connected(port) as client:
        assert (await client.ask(b"NOOP" + octet + b"NOOP")) == "500 5.5.2 syntax error"
        assert (await client.ask(b"NOOP " + octet + b"RSET")) == "500 5.5.2 syntax error"
        assert (await client.ask(b"NOOP"))[:3] == "250"


async def test_two_messages_in_one_packet_are_answered_in_order() -> None:
    memory = Memory()

    async with serving(memory) as port, connected(port) as client:
        client.send(
            mail(b"first\r\n", to=b"gated@example.com")
            + mail(b"second\r\n", to=b"refused@example.com")
            + mail(b"third\r\n")
            + b"NOOP\r\n"
        )
        assert await client.codes(3) == ["250", "250", "354"]
        await asyncio.wait_for(memory.took.wait(), 60)
        assert memory.raws == [b"third\r\n"]  # taken while the first still waits
        memory.gate.set()
        answers = [await client.answer() for _ in range(10)]

    assert [answer[:3] for answer in answers] == [
        "250",
        *("250", "250", "354", "554"),
        *("250", "250", "354", "250"),
        "250",
    ]


async def test_a_slow_client_gets_its_message_across_byte_by_byte() -> None:
    memory = Memory()

    async with serving(memory) as port, connected(port) as client:
        for octet in mail(b"Subject: slow\r\n\r\n..x\r\n"):
            client.send(bytes([octet]))
            await client.writer.drain()
            await asyncio.sleep(0)
        assert await client.codes(4) == ["250", "250", "354", "250"]

    assert memory.raws == [b"Subject: slow\r\n\r\n.x\r\n"]


async def test_one_client_that_waits_does_not_hold_up_another() -> None:
    memory = Memory()

    async with serving(memory) as port, connected(port) as slow, connected(port) as quick:
        slow.send(mail(b"slow\r\n", to=b"gated@example.com"))
        await slow.codes(3)
        quick.send(mail(b"quick\r\n"))
        assert await quick.codes(4) == ["250", "250", "354", "250"]
        memory.gate.set()
        assert (await slow.answer()) == "250 2.0.0 taken"


async def test_a_browser_is_hung_up_on() -> None:
    memory = Memory()

    async with serving(memory) as port, connected(port, greeted=False) as client:
        client.send(b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\nEHLO x\r\n" + mail(b"x\r\n"))
        assert await client.rest() == "421 4.7.0 this is a mail server, closing\r\n"

    assert memory.taken == []


async def test_commands_out_of_order_are_refused() -> None:
    async with serving() as port, connected(port, greeted=False) as client:
        assert (await client.ask(b"MAIL FROM:<a@example.org>"))[:3] == "503"
        assert (await client.ask(b"EHLO"))[:3] == "501"
        assert (await client.ask(b"helo x"))[:3] == "250"
        assert (await client.ask(b"RCPT TO:<a@example.org>"))[:3] == "503"
        assert (await client.ask(b"DATA"))[:3] == "503"
        assert (await client.ask(b"mail from:<a@example.org>"))[:3] == "250"
        assert (await client.ask(b"MAIL FROM:<a@example.org>"))[:3] == "503"
        assert (await client.ask(b"RCPT TO:<nobody@example.org>"))[:3] == "550"
        assert (await client.ask(b"DATA"))[:3] == "554"
        assert (await client.ask(b"VRFY ann"))[:3] == "252"
        assert (await client.ask(b"RSET"))[:3] == "250"
        assert (await client.ask(b"DATA"))[:3] == "503"
        assert (await client.ask(b"STARTTLS"))[:3] == "500"
        client.send(b"QUIT\r\nNOOP\r\n")
        assert await client.rest() == "221 2.0.0 bye\r\n"


async def test_hanging_up_without_an_answer_closes_the_connection() -> None:
    async with serving() as port, connected(port) as client:
        client.send(mail(b"x\r\n", to=b"silent@example.com"))
        assert await client.codes(3) == ["250", "250", "354"]
        assert await client.rest() == ""


async def test_a_broken_handler_is_told_as_a_temporary_failure() -> None:
    told: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, c: told.append(c["message"]))

    async with serving() as port, connected(port) as client:
        client.send(mail(b"x\r\n", to=b"broken@example.com"))
        assert await client.codes(4) == ["250", "250", "354", "451"]

    assert told == ["accepting a message failed"]
