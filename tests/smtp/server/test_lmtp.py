"""LMTP clients get a reply for each recipient, from the same server."""

import pytest

from mailqueue.smtp.server.handler import ServerLimits
from tests.smtp.server.serving import Memory, connected, serving

pytestmark = pytest.mark.anyio

THREE = (
    b"MAIL FROM:<>\r\nRCPT TO:<a@example.com>\r\n"
    b"RCPT TO:<nobody@x.example>\r\nRCPT TO:<b@x.net>\r\n"
)


async def test_after_lhlo_each_recipient_that_was_taken_has_an_answer() -> None:
    memory = Memory()
    async with serving(memory, takes_lmtp=True) as port, connected(port, greeted=False) as client:
        assert "PIPELINING" in await client.ask(b"LHLO relay.example")
        client.send(THREE + b"DATA\r\n")
        assert await client.codes(5) == ["250", "250", "550", "250", "354"]

        client.send(b"Subject: x\r\n\r\nhi\r\n.\r\nNOOP\r\n")

        assert [await client.answer() for _ in range(2)] == ["250 2.0.0 taken"] * 2
        assert (await client.answer()).startswith("250 2.0.0 ok")
    assert memory.taken[0][0].recipients == ("a@example.com", "b@x.net")


async def test_a_refusal_of_the_message_too_is_said_to_each() -> None:
    limits = ServerLimits(message_bytes=50)
    async with (
        serving(takes_lmtp=True, limits=limits) as port,
        connected(port, greeted=False) as client,
    ):
        await client.ask(b"LHLO relay.example")
        client.send(THREE + b"DATA\r\n")
        await client.codes(5)

        client.send(b"x" * 100 + b"\r\n.\r\nNOOP\r\n")

        assert await client.codes(3) == ["552", "552", "250"]


async def test_answers_of_two_messages_come_in_order() -> None:
    memory = Memory()
    async with serving(memory, takes_lmtp=True) as port, connected(port, greeted=False) as client:
        await client.ask(b"LHLO relay.example")
        one = b"MAIL FROM:<>\r\nRCPT TO:<gated@x.net>\r\nRCPT TO:<b@x.net>\r\nDATA\r\n1\r\n.\r\n"
        client.send(one + one.replace(b"gated", b"refused"))
        assert await client.codes(4) == ["250", "250", "250", "354"]

        memory.gate.set()

        found = await client.codes(8)
        assert found == ["250", "250", "250", "250", "250", "354", "554", "554"]


async def test_data_without_a_recipient_is_refused_as_lmtp_says() -> None:
    async with serving(takes_lmtp=True) as port, connected(port, greeted=False) as client:
        await client.ask(b"LHLO relay.example")
        await client.ask(b"MAIL FROM:<>")

        assert (await client.ask(b"DATA"))[:3] == "503"


async def test_who_says_ehlo_speaks_smtp_with_the_same_server() -> None:
    async with serving(takes_lmtp=True) as port, connected(port) as client:
        client.send(THREE + b"DATA\r\n")
        await client.codes(5)

        client.send(b"hi\r\n.\r\nNOOP\r\n")

        assert await client.codes(2) == ["250", "250"]
        assert (await client.ask(b"NOOP")).startswith("250 2.0.0 ok")


async def test_a_server_that_does_not_offer_it_knows_no_lhlo() -> None:
    async with serving() as port, connected(port, greeted=False) as client:
        assert (await client.ask(b"LHLO relay.example"))[:3] == "500"
