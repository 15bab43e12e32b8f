"""Limits of the SMTP server for one client, and what happens beyond them."""

import asyncio

import pytest

from mailqueue.smtp.server.handler import ServerLimits
from tests.smtp.server.serving import Memory, connected, mail, serving

pytestmark = pytest.mark.anyio


async def test_what_waits_is_bounded_and_goes_on_when_it_is_answered() -> None:
    memory = Memory()
    limits = ServerLimits(waiting=3)

    async with serving(memory, limits=limits) as port, connected(port) as client:
        client.send(mail(b"x\r\n", to=b"gated@example.com") * 20)
        assert await client.codes(3) == ["250", "250", "354"]
        memory.gate.set()
        assert (await client.codes(77))[0::4] == ["250"] * 20

    assert len(memory.taken) == 20


async def test_pipelined_garbage_ends_the_conversation() -> None:
    async with serving() as port, connected(port) as client:
        client.send(b"\x00\xff garbage\r\n" * 500)
        answers = (await client.rest()).splitlines()

    assert len(answers) == 22
    assert answers[-1] == "421 4.7.0 too many errors, closing"


async def test_an_endless_command_ends_the_conversation() -> None:
    async with serving() as port, connected(port) as client:
        client.send(b"NOOP " + b"x" * 5_000)
        assert await client.rest() == "500 5.5.2 line too long\r\n"


async def test_a_message_beyond_the_limit_is_refused_and_the_next_one_taken() -> None:
    memory = Memory()
    limits = ServerLimits(message_bytes=10_000)

    async with serving(memory, limits=limits) as port, connected(port) as client:
        assert (await client.ask(b"MAIL FROM:<a@example.org> SIZE=10001"))[:9] == "552 5.3.4"
        client.send(mail(b"x" * 50_000 + b"\r\n" + b"y" * 9_000 + b"\r\n"))
        assert await client.codes(4) == ["250", "250", "354", "552"]
        client.send(mail(b"z" * 9_998 + b"\r\n"))
        assert await client.codes(4) == ["250", "250", "354", "250"]

    assert memory.raws == [b"z" * 9_998 + b"\r\n"]


async def test_an_overlong_line_of_text_is_refused_where_that_is_wanted() -> None:
    memory = Memory()
    limits = ServerLimits(text_line_bytes=998)

    async with serving(memory, limits=limits) as port, connected(port) as client:
        client.send(mail(b"x" * 999 + b"\r\n") + mail(b"x" * 998 + b"\r\n"))
        assert (await client.codes(8))[3::4] == ["554", "250"]


async def test_recipients_are_counted() -> None:
    limits = ServerLimits(recipients=3)

    async with serving(limits=limits) as port, connected(port) as client:
        client.send(b"MAIL FROM:<>\r\n" + b"RCPT TO:<ann@example.com>\r\n" * 5)
        assert await client.codes(6) == ["250", "250", "250", "250", "452", "452"]


async def test_an_idle_client_is_let_go() -> None:
    async with serving(limits=ServerLimits(idle_s=0.05)) as port, connected(port) as client:
        assert await client.rest() == "421 4.4.2 idle for too long, closing\r\n"


async def test_a_client_that_waits_for_us_is_not_idle() -> None:
    memory = Memory()
    limits = ServerLimits(idle_s=1.0)

    async with serving(memory, limits=limits) as port, connected(port) as client:
        client.send(mail(b"x\r\n", to=b"gated@example.com"))
        await client.codes(3)
        asyncio.get_running_loop().call_later(1.5, memory.gate.set)
        assert (await client.answer()) == "250 2.0.0 taken"


async def test_connections_are_counted() -> None:
    async with serving(limits=ServerLimits(connections=1)) as port, connected(port):
        _, writer = opened = await asyncio.open_connection("127.0.0.1", port)
        assert (await opened[0].read()).startswith(b"421 4.3.2")
        writer.close()
        await writer.wait_closed()


async def test_stopping_waits_for_what_was_handed_over() -> None:
    memory = Memory()
    async with serving(memory) as port:
        client = connected(port)
        talking = await client.__aenter__()
        talking.send(mail(b"x\r\n", to=b"gated@example.com"))
        await talking.codes(3)
        asyncio.get_running_loop().call_later(0.05, memory.gate.set)

    assert await talking.rest() == (
        "250 2.0.0 taken\r\n421 4.3.2 shutting down, try again later\r\n"
    )
    await client.__aexit__(None, None, None)
