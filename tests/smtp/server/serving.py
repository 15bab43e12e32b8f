"""The SMTP server with a handler that records, and a client that sends raw bytes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mailqueue.smtp.server.answer import SmtpReply
from mailqueue.smtp.server.handler import ReceivedEnvelope
from mailqueue.smtp.server.listener import smtp_server

TAKEN = SmtpReply(250, "2.0.0", "taken")
NO_SUCH = SmtpReply(550, "5.1.1", "no such user")
REFUSED = SmtpReply(554, "5.7.1", "refused")
PATIENCE_S = 20


class Memory:
    """Accepts all recipients but `nobody@`; gated@ waits for the gate, silent@ closes, broken@
    raises.
    """

    def __init__(self) -> None:
        self.taken: list[tuple[ReceivedEnvelope, bytes]] = []
        self.gate = asyncio.Event()
        self.took = asyncio.Event()

    @property
    def raws(self) -> list[bytes]:
        return [raw for _, raw in self.taken]

    def check_recipient(self, address: str) -> SmtpReply | None:
        return NO_SUCH if address.startswith("nobody@") else None

    async def accept(self, envelope: ReceivedEnvelope, raw: bytes) -> SmtpReply | None:
        match envelope.recipients[0].partition("@")[0]:
            case "gated":
                await self.gate.wait()
            case "silent":
                return None
            case "broken":
                raise RuntimeError("the handler is broken")
            case "refused":
                return REFUSED
        self.taken.append((envelope, raw))
        self.took.set()
        return TAKEN


class RawClient:
    """Sends bytes unchanged and reads whole replies."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def send(self, octets: bytes) -> None:
        self.writer.write(octets)

    async def answer(self) -> str:
        """Read one answer; its lines joined by `|`. An ended connection gives ""."""
        lines = []
        while True:
            line = await asyncio.wait_for(self.reader.readline(), PATIENCE_S)
            lines.append(line.decode().rstrip("\r\n"))
            if line[3:4] != b"-":
                return "|".join(lines)

    async def codes(self, count: int) -> list[str]:
        return [(await self.answer())[:3] for _ in range(count)]

    async def ask(self, line: bytes) -> str:
        self.send(line + b"\r\n")
        return await self.answer()

    async def rest(self) -> str:
        """Read until the server closes."""
        return (await asyncio.wait_for(self.reader.read(), PATIENCE_S)).decode()


@asynccontextmanager
async def serving(memory: Memory | None = None, **options: Any) -> AsyncIterator[int]:
    async with smtp_server(memory or Memory(), host="127.0.0.1", port=0, **options) as port:
        yield port


@asynccontextmanager
async def connected(port: int, *, greeted: bool = True) -> AsyncIterator[RawClient]:
    client = RawClient(*await asyncio.open_connection("127.0.0.1", port))
    try:
        assert (await client.answer()).startswith("220 ")
        if greeted:
            assert (await client.ask(b"EHLO client.example")).startswith("250-")
        yield client
    finally:
        client.writer.close()
        await client.writer.wait_closed()


def mail(body: bytes, *, to: bytes = b"ann@example.com") -> bytes:
    """Run one transaction, pipelined; the body as on the wire, without the final dot."""
    return b"MAIL FROM:<bob@example.org>\r\nRCPT TO:<" + to + b">\r\nDATA\r\n" + body + b".\r\n"
