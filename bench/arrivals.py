"""A mail sink that accepts every mail and records when it arrived; also runs by itself."""

import asyncio
import re
import sys
import time
from collections.abc import Callable
from typing import cast

import uvloop

GREETING = b"220 sink ESMTP\r\n"
HELLO = b"250-sink\r\n250-PIPELINING\r\n250 8BITMIME\r\n"
END = b"\r\n.\r\n"
_RECIPIENT = re.compile(rb"RCPT TO:<([^>]*)>", re.IGNORECASE)

Arrived = Callable[[bytes, float], None]
"""Called with the recipient's address and the time (time.time) at which the final dot was read."""


class Receiving(asyncio.Protocol):
    """One connection."""

    def __init__(self, arrived: Arrived) -> None:
        self._arrived = arrived
        self._rest = b""
        self._recipient = b""
        self._in_message = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Greet."""
        self._transport = cast(asyncio.Transport, transport)  # not one of its class on every loop
        self._transport.write(GREETING)

    def data_received(self, data: bytes) -> None:
        """Answer every complete line of these bytes in one write."""
        data = self._rest + data if self._rest else data
        answers: list[bytes] = []
        at = 0
        while True:
            end = data.find(END if self._in_message else b"\r\n", at)
            if end < 0:
                break
            if self._in_message:
                self._in_message = False
                self._arrived(self._recipient, time.time())
                answers.append(b"250 2.0.0 Ok\r\n")
                at = end + len(END)
            else:
                answers.append(self._answer(data[at:end]))
                # The empty line before a lone dot may be the end of the DATA command itself.
                at = end if self._in_message else end + 2
        self._rest = data[at:]
        if answers:
            self._transport.write(b"".join(answers))

    def _answer(self, line: bytes) -> bytes:
        verb = line[:4].upper()
        match verb:
            case b"EHLO" | b"HELO":
                return HELLO
            case b"RCPT":
                found = _RECIPIENT.match(line)
                self._recipient = found[1] if found else b""
                return b"250 2.1.5 Ok\r\n"
            case b"DATA":
                self._in_message = True
                return b"354 End data with <CR><LF>.<CR><LF>\r\n"
            case b"QUIT":
                self._transport.write(b"221 2.0.0 Bye\r\n")
                self._transport.close()
                return b""
            case _:
                return b"250 2.0.0 Ok\r\n"


async def serve(arrived: Arrived, *, port: int = 0) -> asyncio.Server:
    """Listen on loopback."""
    loop = asyncio.get_running_loop()
    return await loop.create_server(lambda: Receiving(arrived), "127.0.0.1", port)


async def _forever(port: int) -> None:
    server = await serve(lambda _address, _at: None, port=port)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_forever(int(sys.argv[1])))
