"""A mail server that records every mail it accepts, and simulates faults on request.

`python -m tests.chaos.sink.server PORT LEDGER CONTROL`: CONTROL is the path of a socket that takes
orders as lines of JSON, and answers each with the counts so far.
"""

import asyncio
import os
import re
import sys
from pathlib import Path
from typing import cast

import orjson
import uvloop

from tests.chaos.sink.faults import CONNECT, DATA, DOT, RCPT, Fault, Orders, orders_from

GREETING = b"220 sink.example.com ESMTP\r\n"
EXTENSIONS = (
    b"250-sink.example.com\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 ENHANCEDSTATUSCODES\r\n"
)
OK, QUEUED = b"250 2.0.0 ok\r\n", b"250 2.0.0 queued\r\n"
END = b"\r\n.\r\n"
FLOOD_BYTES = 10_000_000
REFUSALS = {
    Fault.BUSY: b"421 4.3.2 not now\r\n",
    Fault.TEMPORARY: b"451 4.3.0 later\r\n",
    Fault.PERMANENT: b"550 5.1.1 nobody here by that name\r\n",
    Fault.DISORDER: b"554 5.6.0 not that one\r\n",
}
_MESSAGE_ID = re.compile(rb"^Message-ID:\s*(<[^>\r\n]*>)", re.IGNORECASE | re.MULTILINE)
_ADDRESS = re.compile(rb"<([^>]*)>")


class Sink:
    """The server: its orders, its ledger and what it counted."""

    def __init__(self, port: int, ledger: Path) -> None:
        self._port = port
        self._ledger = os.open(ledger, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._server: asyncio.Server | None = None
        self.orders = Orders()
        self.dialogs: set[Dialog] = set()
        self.taken = self.faults = self.connections = 0

    async def listen(self) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Dialog(self), "127.0.0.1", self._port)

    async def obey(self, orders: Orders) -> None:
        """Simulate this fault from now on; close connections that hang, so that clients
        reconnect.
        """
        self.orders, self.faults = orders, 0
        for dialog in list(self.dialogs):
            if dialog.is_mute:
                dialog.end()
            elif orders.fault is Fault.REFUSE or orders.at == CONNECT:
                dialog.leave()
        if orders.fault is Fault.REFUSE and self._server is not None:
            self._server.close()
            self._server = None
        elif self._server is None:
            await self.listen()

    def write(self, word: str, message_id: bytes, recipient: bytes) -> None:
        """Record a mail before the client gets its reply."""
        os.write(self._ledger, b"%s %s %s\n" % (word.encode(), message_id, recipient))

    def counts(self) -> bytes:
        return orjson.dumps(
            {"taken": self.taken, "faults": self.faults, "connections": self.connections}
        )


class Dialog(asyncio.Protocol):
    """One connection."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._rest = b""
        self._recipient = b""
        self._in_message = False
        self._replies: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        self._unsaid = 0
        self._has_carried = False  # a message was received
        self._is_leaving = False
        self.is_mute = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none by its class
        self._sink.connections += 1
        self._sink.dialogs.add(self)
        self._speaker = asyncio.create_task(self._speak())
        self._reply(CONNECT, GREETING)

    def connection_lost(self, _: Exception | None) -> None:
        self._sink.dialogs.discard(self)
        self._speaker.cancel()

    def end(self) -> None:
        self._transport.abort()

    def leave(self) -> None:
        """Close now if no mail is being received, otherwise after it.

        A connection without any mail so far stays for its first one: that may be on its way, and
        what a new connection loses counts as an attempt.
        """
        self._is_leaving = True
        is_busy = self._recipient or self._in_message or self._unsaid
        if self._has_carried and not is_busy:
            self._transport.close()

    def data_received(self, data: bytes) -> None:
        self._rest += data
        while not (self.is_mute or self._transport.is_closing()):
            mark = END if self._in_message else b"\r\n"
            found = self._rest.find(mark)
            if found < 0:
                return
            said, self._rest = self._rest[:found], self._rest[found + len(mark) :]
            if self._in_message:
                self._in_message = False
                self._take(said)
            else:
                self._answer(said)

    def _answer(self, line: bytes) -> None:
        verb = line[:4].upper().decode("latin-1")
        if verb in ("EHLO", "HELO"):
            self._reply("EHLO", EXTENSIONS)
        elif verb == RCPT:
            found = _ADDRESS.search(line)
            self._recipient = found[1] if found else b""
            self._reply(RCPT, b"250 2.1.5 ok\r\n")
        elif verb == DATA and not self._recipient:
            self._say(b"554 5.5.1 no recipient\r\n")
        elif verb == DATA:
            self._in_message = self._reply(DATA, b"354 go ahead\r\n")
            self._rest = b"\r\n" + self._rest if self._in_message else self._rest
        elif verb == "QUIT":
            self._say(b"221 2.0.0 bye\r\n")
        else:
            self._recipient = b""
            self._reply(verb, OK)

    def _take(self, message: bytes) -> None:
        recipient, self._recipient = self._recipient, b""
        self._has_carried = True
        found = _MESSAGE_ID.search(message)
        orders = self._sink.orders
        is_refused = orders.occurs_at(DOT) and orders.fault in REFUSALS
        word = "refused" if is_refused else "taken"
        self._sink.write(word, found[1] if found else b"-", recipient)
        self._sink.taken += not is_refused
        self._reply(DOT, QUEUED)

    def _reply(self, verb: str, usual: bytes) -> bool:
        """Reply according to the fault; return True if it was the usual reply."""
        orders = self._sink.orders
        if not orders.occurs_at(verb):
            self._say(usual)
            return True
        self._sink.faults += orders.fault is not Fault.NONE
        match orders.fault:
            case Fault.SILENT | Fault.HANG:
                self.is_mute = True
            case Fault.GONE:
                self._transport.close()
            case Fault.FLOOD:
                self._say(usual[:4] + b"x" * FLOOD_BYTES + b"\r\n")
            case Fault.DISORDER if verb == DATA:
                self._say(usual + QUEUED)
                return True
            case Fault.BUSY | Fault.TEMPORARY | Fault.PERMANENT | Fault.DISORDER:
                self._recipient = b""
                self._say(REFUSALS[orders.fault])
            case _:
                self._say(usual)
                return True
        return False

    def _say(self, reply: bytes) -> None:
        orders = self._sink.orders
        wait = orders.wait_ms / 1000 if reply == QUEUED else 0.0
        if wait == 0 and orders.fault is not Fault.DRIP and not self._unsaid:
            self._transport.write(reply)
            self._close_after(reply)
        else:
            self._unsaid += 1
            self._replies.put_nowait((wait, reply))

    async def _speak(self) -> None:
        """Send the delayed replies, in order."""
        while True:
            wait, reply = await self._replies.get()
            await asyncio.sleep(wait)
            pieces = [reply]
            if self._sink.orders.fault is Fault.DRIP:
                pieces = [reply[n : n + 1] for n in range(len(reply))]
            for piece in pieces:
                self._transport.write(piece)
                await asyncio.sleep(0)
            self._unsaid -= 1
            self._close_after(reply)

    def _close_after(self, reply: bytes) -> None:
        if reply.startswith((b"221", b"421")) or (self._is_leaving and reply == QUEUED):
            self._transport.close()


async def serve(port: int, ledger: Path, control: Path) -> None:
    """Serve until the process is ended."""
    sink = Sink(port, ledger)
    await sink.listen()

    async def take_orders(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            words = orjson.loads(line)
            counts = sink.counts()  # until then
            if words:
                await sink.obey(orders_from(words))
            writer.write(counts + b"\n")
        writer.close()

    server = await asyncio.start_unix_server(take_orders, control)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])))
