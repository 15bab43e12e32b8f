"""What a strict server refuses: mixed line ends, early commands, slow and idle clients."""

import asyncio
from itertools import product

import pytest

from mailqueue.smtp.server.handler import ServerLimits
from tests.smtp.server.serving import Memory, connected, serving

pytestmark = pytest.mark.anyio

STRICT = ServerLimits(
    refuses_bare_ends=True, refuses_early_commands=True, text_line_bytes=998, idle_commands=5
)
ENVELOPE = b"MAIL FROM:<a@example.org>\r\nRCPT TO:<b@example.org>\r\nDATA\r\n"
# What some server somewhere took for the end of a message, and so let one message be two.
BEFORE = (b"\n", b"\r", b"\r\n", b"\r\r\n", b"\n\r", b"\0", b"\r\0\n")
AFTER = (b"\n", b"\r", b"\r\n", b"\r\r\n", b"\n\r", b"\0", b"\r\n\0", b" \r\n")
ENDS = [
    before + dots + after
    for before, dots, after in product(BEFORE, (b".", b"..", b".\0"), AFTER)
    if b"\r\n.\r\n" not in before + dots + after
]


async def test_no_other_end_of_a_message_makes_two_of_one() -> None:
    """Each is refused or accepted as a whole; what follows is never read as commands."""
    memory = Memory()
    inner = b"MAIL FROM:<evil@example.org>\r\nRCPT TO:<c@example.org>\r\nDATA\r\nevil"
    async with serving(memory, limits=STRICT) as port, connected(port) as client:
        for end in ENDS:
            memory.taken.clear()
            client.send(ENVELOPE)
            assert await client.codes(3) == ["250", "250", "354"]
            client.send(b"first" + end + inner + b"\r\n.\r\n")
            answer = await client.answer()
            assert await client.ask(b"RSET") == "250 2.0.0 ok", end
            assert len(memory.taken) == (answer[:3] == "250")
            for envelope, raw in memory.taken:
                assert envelope.sender == "a@example.org"
                assert raw.endswith(b"evil\r\n")
                assert b"\r\n" in end
                assert raw.replace(b"\r\n", b"").translate(None, b"\r\n\0") == raw.replace(
                    b"\r\n", b""
                )
    assert len(ENDS) > 150


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (b"a\nb", "550 5.5.2"),
        (b"a\rb", "550 5.5.2"),
        (b"a\r\r\nb", "550 5.5.2"),
        (b"a\n\rb", "550 5.5.2"),
        (b"a\0b", "550 5.6.0"),
        (b"x" * 999, "554 5.6.0"),
        (b"x" * 998, "250 2.0.0"),
    ],
)
async def test_what_lines_may_hold(text: bytes, answer: str) -> None:
    async with serving(limits=STRICT) as port, connected(port) as client:
        client.send(ENVELOPE)
        assert await client.codes(3) == ["250", "250", "354"]
        assert (await client.ask(text + b"\r\n."))[:9] == answer


@pytest.mark.parametrize("last", [b"EHLO x", b"HELO x", b"DATA", b"AUTH PLAIN", b"data"])
async def test_what_comes_behind_the_last_of_a_group_ends_the_conversation(last: bytes) -> None:
    async with serving(limits=STRICT) as port, connected(port) as client:
        client.send(last + b"\r\nMAIL FROM:<a@example.org>\r\n")
        assert (await client.answer())[:9] == "554 5.5.0"
        assert await client.rest() == ""


async def test_a_group_may_follow_the_end_of_a_message() -> None:
    memory = Memory()
    async with serving(memory, limits=STRICT) as port, connected(port) as client:
        client.send(ENVELOPE)
        assert await client.codes(3) == ["250", "250", "354"]
        client.send(b"one\r\n.\r\n" + ENVELOPE)
        assert await client.codes(4) == ["250", "250", "250", "354"]
        client.send(b"two\r\n.\r\nQUIT\r\n")
        assert await client.codes(2) == ["250", "221"]
    assert memory.raws == [b"one\r\n", b"two\r\n"]


async def test_an_idle_client_is_disconnected() -> None:
    async with serving(limits=STRICT) as port, connected(port) as client:
        client.send(b"NOOP\r\n" * 5)  # it has said EHLO
        assert await client.codes(5) == ["250"] * 4 + ["421"]


async def test_connections_of_one_address_are_counted() -> None:
    limits = ServerLimits(connections_per_address=1)
    async with serving(limits=limits) as port, connected(port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert (await asyncio.wait_for(reader.read(), 60)).startswith(b"421 4.7.0 ")
        writer.close()


async def test_a_message_that_trickles_in_is_given_up() -> None:
    limits = ServerLimits(min_bytes_per_s=1_000_000_000, grace_s=0)
    async with serving(limits=limits) as port, connected(port) as client:
        client.send(ENVELOPE)
        assert await client.codes(3) == ["250", "250", "354"]
        client.send(b"x")
        assert (await client.answer())[:9] == "421 4.4.2"


async def test_a_message_that_takes_too_long_is_given_up() -> None:
    async with serving(limits=ServerLimits(message_s=0)) as port, connected(port) as client:
        client.send(ENVELOPE)
        assert await client.codes(3) == ["250", "250", "354"]
        client.send(b"x")
        assert (await client.answer())[:9] == "421 4.4.2"
