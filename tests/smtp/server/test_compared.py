"""Our SMTP server and aiosmtpd under the same clients: the evidence of decision 0042.

What is expected of aiosmtpd is what the pinned version does. Where a later version does better,
the test fails, and the decision wants to be looked at again.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import SMTP, Envelope, Session

from mailqueue.smtp.server.answer import SmtpReply
from mailqueue.smtp.server.handler import ReceivedEnvelope
from mailqueue.smtp.server.listener import smtp_server
from tests.smtp.certificates import server_context, trusting_context
from tests.smtp.server.serving import RawClient, connected
from tests.smtp.server.test_violations import ENDS, ENVELOPE, STRICT

pytestmark = pytest.mark.anyio

OURS, THEIRS = "mailqueue", "aiosmtpd"
INNER = b"MAIL FROM:<evil@example.org>\r\nRCPT TO:<c@example.org>\r\nDATA\r\nevil"


@dataclass
class Shared:
    """One handler for both servers; messages wait for the gate."""

    kept: list[tuple[str, bytes]] = field(default_factory=list)
    commits: list[int] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: list[tuple[str, bytes]] = field(default_factory=list)
    gated: int = 0  # so many messages are waited for before `full` is set; 0: none waits
    full: asyncio.Event = field(default_factory=asyncio.Event)

    def check_recipient(self, address: str) -> SmtpReply | None:  # noqa: ARG002
        return None

    async def accept(self, envelope: ReceivedEnvelope, raw: bytes) -> SmtpReply | None:
        await self.keep(envelope.sender, raw)
        return SmtpReply(250, "2.0.0", "taken")

    async def handle_DATA(self, _: SMTP, __: Session, envelope: Envelope) -> str:  # noqa: N802
        content = envelope.original_content
        assert isinstance(content, bytes)
        await self.keep(envelope.mail_from or "", content)
        return "250 2.0.0 taken"

    async def keep(self, sender: str, raw: bytes) -> None:
        if self.gated:
            self.waiting.append((sender, raw))
            if len(self.waiting) == self.gated:
                self.full.set()
            await self.gate.wait()
            if self.waiting:
                self.commits.append(len(self.waiting))
                self.waiting.clear()
        self.kept.append((sender, raw))


@asynccontextmanager
async def running(
    name: str, shared: Shared, *, tls: ssl.SSLContext | None = None, is_lmtp: bool = False
) -> AsyncIterator[int]:
    if name == OURS:
        async with smtp_server(
            shared, host="127.0.0.1", port=0, limits=STRICT, tls=tls, takes_lmtp=is_lmtp
        ) as port:
            yield port
        return
    made: Callable[..., SMTP] = LMTP if is_lmtp else SMTP
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: made(
            shared, hostname="localhost", enable_SMTPUTF8=True, tls_context=tls, loop=loop
        ),
        "127.0.0.1",
        0,
    )
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def begun(client: RawClient, envelope: bytes = ENVELOPE) -> None:
    for line in envelope.splitlines():
        assert (await client.ask(line))[:1] in "23"


@pytest.mark.parametrize(("name", "passed_on"), [(OURS, 0), (THEIRS, 161)])
async def test_smuggled_ends(name: str, passed_on: int) -> None:
    """Neither splits one message into two; how many are passed on to a server that might?

    Three of the endings hold no CR, LF or NUL alone, and are content like any other.
    """
    assert len(ENDS) == 164
    shared = Shared()
    refused = 0
    async with running(name, shared) as port:
        for end in ENDS:
            async with connected(port) as client:
                await begun(client)
                client.send(b"first" + end + INNER + b"\r\n.\r\n")
                refused += (await client.answer())[:1] == "5"

    assert {sender for sender, _ in shared.kept} <= {"a@example.org"}
    assert refused + len(shared.kept) == len(ENDS)
    unclear = [raw for _, raw in shared.kept if set(raw.replace(b"\r\n", b"")) & set(b"\r\n\0")]
    assert len(unclear) == passed_on


@pytest.mark.parametrize(("name", "answer"), [(OURS, "500"), (THEIRS, "250")])
async def test_a_command_that_ends_in_a_bare_lf(name: str, answer: str) -> None:
    async with running(name, Shared()) as port, connected(port) as client:
        client.send(b"NOOP\n")
        assert (await client.answer())[:3] == answer


@pytest.mark.parametrize("name", [OURS, THEIRS])
async def test_starttls_injection(name: str, tmp_path: Path) -> None:
    """Nothing sent in clear after STARTTLS counts under TLS."""
    shared = Shared()
    tls = server_context(tmp_path, name="localhost")
    trusting = trusting_context(tmp_path)
    async with running(name, shared, tls=tls) as port:
        client = RawClient(*await asyncio.open_connection("127.0.0.1", port))
        await client.answer()
        await client.ask(b"EHLO x")
        client.send(b"STARTTLS\r\nEHLO evil\r\n" + ENVELOPE[: -len(b"DATA\r\n")])
        answer = (await client.answer())[:3]
        if name == OURS:
            assert answer == "554"
            assert await client.rest() == ""
        else:
            assert answer == "220"
            await client.writer.start_tls(trusting, server_hostname="localhost")
            assert (await client.ask(b"DATA"))[:3] == "503"
        client.writer.close()
    assert shared.kept == []


@pytest.mark.parametrize(("name", "taken"), [(OURS, 1_000), (THEIRS, 1_500)])
async def test_many_recipients(name: str, taken: int) -> None:
    async with running(name, Shared()) as port, connected(port) as client:
        await begun(client, b"MAIL FROM:<a@example.org>\r\n")
        client.send(b"".join(b"RCPT TO:<p%d@example.org>\r\n" % n for n in range(1_500)))
        codes = await client.codes(1_500)
    assert codes == ["250"] * taken + ["452"] * (1_500 - taken)


@pytest.mark.parametrize(("name", "answers"), [(OURS, 2), (THEIRS, 1)])
async def test_lmtp(name: str, answers: int) -> None:
    """RFC 2033: a reply for each accepted recipient."""
    async with (
        running(name, Shared(), is_lmtp=True) as port,
        connected(port, greeted=False) as client,
    ):
        await client.ask(b"LHLO relay.example")
        await begun(client, b"MAIL FROM:<a@example.org>\r\nRCPT TO:<b@example.org>\r\n")
        await begun(client, b"RCPT TO:<c@example.org>\r\nDATA\r\n")
        client.send(b"x\r\n.\r\nQUIT\r\n")
        said = (await client.rest()).splitlines()
    assert [line[:3] for line in said] == ["250"] * answers + ["221"]


@pytest.mark.parametrize(("name", "is_offered"), [(OURS, True), (THEIRS, False)])
async def test_pipelining(name: str, is_offered: bool) -> None:
    shared = Shared()
    async with running(name, shared) as port, connected(port) as client:
        assert ("PIPELINING" in await client.ask(b"EHLO x")) is is_offered
        client.send(ENVELOPE)
        assert await client.codes(3) == ["250", "250", "354"]
        client.send(b"one\r\n.\r\n" + ENVELOPE)
        assert await client.codes(4) == ["250", "250", "250", "354"]
        client.send(b"two\r\n.\r\n")
        assert await client.codes(1) == ["250"]
    assert [raw for _, raw in shared.kept] == [b"one\r\n", b"two\r\n"]


@pytest.mark.deep
@pytest.mark.parametrize(("name", "is_heard"), [(OURS, True), (THEIRS, False)])
async def test_a_client_that_closes_its_side_early(name: str, is_heard: bool) -> None:
    """Its message is being committed; is there a reply?"""
    shared = Shared(gated=1)
    async with running(name, shared) as port, connected(port) as client:
        await begun(client)
        client.send(b"x\r\n.\r\n")
        await asyncio.wait_for(shared.full.wait(), 20)
        client.writer.write_eof()
        await asyncio.sleep(0.1)  # for it to arrive
        shared.gate.set()
        rest = await client.rest()
    assert rest == ("250 2.0.0 taken\r\n" if is_heard else "")
    assert len(shared.kept) == is_heard


@pytest.mark.parametrize("name", [OURS, THEIRS])
async def test_messages_of_several_clients_share_a_commit(name: str) -> None:
    shared = Shared(gated=10)

    async def hand_in(port: int) -> str:
        async with connected(port) as client:
            await begun(client)
            return await client.ask(b"x\r\n.")

    async with running(name, shared) as port, asyncio.timeout(20):
        clients = [asyncio.create_task(hand_in(port)) for _ in range(10)]
        await shared.full.wait()
        shared.gate.set()
        assert {await each for each in clients} == {"250 2.0.0 taken"}
    assert shared.commits == [10]


@pytest.mark.parametrize(("name", "is_taken"), [(OURS, False), (THEIRS, True)])
async def test_a_browser_made_to_post_mail(name: str, is_taken: bool) -> None:
    shared = Shared()
    async with running(name, shared) as port, connected(port, greeted=False) as client:
        client.send(b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\nEHLO x\r\n" + ENVELOPE)
        client.send(b"x\r\n.\r\nQUIT\r\n")
        await client.rest()
    assert bool(shared.kept) is is_taken
