"""An SMTP server with scripted replies, which otherwise follows the protocol.

It is strict about the client: a command out of order gets 503, a nested MAIL too.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import cast

CLOSE = b"<close>"  # close instead of answering
SILENT = b"<silent>"  # neither answer nor read any more
USUAL_EHLO = ("PIPELINING", "SIZE 1000000", "8BITMIME", "SMTPUTF8", "ENHANCEDSTATUSCODES")
PLAIN_EHLO = ("SIZE 1000000", "8BITMIME")

# One answer is bytes, or pieces of bytes that are written one after another.
Answer = bytes | Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Message:
    """A message that the server accepted, as received: dot-stuffed, with its final dot."""

    sender: bytes
    recipients: tuple[bytes, ...]
    data: bytes

    @property
    def body(self) -> bytes:
        """Return the message as a mailbox would store it."""
        return self.data.removesuffix(b".\r\n").replace(b"\r\n.", b"\r\n").removeprefix(b".")


@dataclass
class ScriptedServer:
    """Replies by verb: `answers["RCPT"]` is used up in order, then the usual reply returns."""

    answers: dict[str, list[Answer]] = field(default_factory=dict)
    ehlo: Sequence[str] = USUAL_EHLO
    commands: list[bytes] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    connections: int = 0
    reads: bool = True  # False: stop reading at the first message
    port: int = 0
    over: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def verbs(self) -> list[str]:
        """Return the verbs of the commands received so far."""
        return [command.split(b" ")[0].split(b":")[0].decode() for command in self.commands]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one client until either side closes."""
        self.connections += 1
        try:
            await _Dialog(self, reader, writer).run()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.transport.abort()


class _Dialog:
    """One connection and the transaction it is in."""

    def __init__(
        self, server: ScriptedServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.server = server
        self.reader = reader
        self.writer = writer
        self.sender: bytes | None = None
        self.recipients: list[bytes] = []

    async def run(self) -> None:
        if not await self.say("CONNECT", b"220 mx.example.com ESMTP\r\n"):
            return
        while True:
            line = (await self.reader.readuntil(b"\r\n"))[:-2]
            self.server.commands.append(line)
            verb = line.split(b" ")[0].split(b":")[0].upper().decode("latin-1")
            if not await self.answer(verb, line):
                return

    async def answer(self, verb: str, line: bytes) -> bool:
        if verb == "EHLO":
            lines = ["mx.example.com", *self.server.ehlo]
            marks = ["-"] * (len(lines) - 1) + [" "]
            text = "".join(f"250{mark}{it}\r\n" for mark, it in zip(marks, lines, strict=True))
            return await self.say(verb, text.encode())
        if verb == "MAIL":
            usual = b"503 5.5.1 nested\r\n" if self.sender is not None else b"250 2.1.0 ok\r\n"
            said = await self.say(verb, usual)
            if self.last.startswith(b"250"):
                self.sender = line
            return said
        if verb == "RCPT":
            usual = b"250 2.1.5 ok\r\n" if self.sender is not None else b"503 5.5.1 no sender\r\n"
            said = await self.say(verb, usual)
            if self.last.startswith(b"25"):
                self.recipients.append(line)
            return said
        if verb == "DATA":
            usual = b"354 go ahead\r\n" if self.recipients else b"554 5.5.1 no recipients\r\n"
            said = await self.say(verb, usual)
            return said and (not self.last.startswith(b"354") or await self.message())
        if verb == "RSET":
            self.sender, self.recipients = None, []
            return await self.say(verb, b"250 2.0.0 ok\r\n")
        if verb == "QUIT":
            await self.say(verb, b"221 2.0.0 bye\r\n")
            return False
        usual = b"235 2.7.0 welcome\r\n" if verb == "AUTH" else b"250 2.0.0 ok\r\n"
        return await self.say(verb, usual)

    async def message(self) -> bool:
        if not self.server.reads:
            cast(asyncio.Transport, self.writer.transport).pause_reading()
            await self.server.over.wait()
            return False
        lines: list[bytes] = []
        while lines[-1:] != [b".\r\n"]:
            lines.append(await self.reader.readuntil(b"\r\n"))
        data = b"".join(lines)
        self.server.commands.append(b".")
        said = await self.say(".", b"250 2.0.0 queued\r\n")
        if self.last.startswith(b"250"):
            message = Message(self.sender or b"", tuple(self.recipients), data)
            self.server.messages.append(message)
        self.sender, self.recipients = None, []
        return said

    async def say(self, verb: str, usual: bytes) -> bool:
        """Send a reply; return False if the connection is to be closed."""
        scripted = self.server.answers.get(verb)
        answer = scripted.pop(0) if scripted else usual
        pieces = [answer] if isinstance(answer, bytes) else answer
        self.last = b"".join(pieces)
        for piece in pieces:
            if piece == SILENT:
                await self.server.over.wait()
            if piece in (CLOSE, SILENT):
                self.writer.close()
                return False
            self.writer.write(piece)
            await self.writer.drain()
            if len(pieces) > 1:
                await asyncio.sleep(0.001)  # so that the pieces arrive apart
        return True


@asynccontextmanager
async def scripted(
    script: Mapping[str, Sequence[Answer]] | None = None,
    *,
    ehlo: Sequence[str] = USUAL_EHLO,
    tls: ssl.SSLContext | None = None,
    reads: bool = True,
    **answers: Sequence[Answer],
) -> AsyncIterator[ScriptedServer]:
    """Run a scripted server on a free loopback port; `dot=` is the reply to the final dot.

    The answers to verbs are those of the script and of the arguments.
    """
    answers = {**(script or {}), **answers}
    if "dot" in answers:
        answers["."] = answers.pop("dot")
    server = ScriptedServer(
        answers={verb: list(said) for verb, said in answers.items()}, ehlo=ehlo, reads=reads
    )
    listener = await asyncio.start_server(
        server.serve, "127.0.0.1", 0, ssl=tls, limit=64 * 1024 * 1024
    )
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        server.over.set()
        listener.close()
