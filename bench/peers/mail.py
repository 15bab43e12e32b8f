"""What the peers in Python share: ready messages, and reused connections that send them."""

import asyncio
import os
import time

import aiosmtplib

SENDER = "sender@example.com"
CONNECTIONS = 8


def message(number: int, size: int) -> tuple[str, str]:
    """Return a recipient and a message that is ready for the wire."""
    line = f"Item {number}: a plain description of what was ordered, one line of it.\r\n"
    address = f"person{number}@example.com"
    head = f"From: {SENDER}\r\nTo: {address}\r\nSubject: Your order {number}\r\n\r\n"
    return address, head + (line * (size // len(line) + 1))[:size] + "\r\n"


class Post:
    """Connections that are opened once and lent to one mail at a time."""

    def __init__(self) -> None:
        self._idle: asyncio.Queue[aiosmtplib.SMTP] = asyncio.Queue()
        self._has_begun = False

    async def open(self) -> None:
        """Connect."""
        for _ in range(CONNECTIONS):
            port = int(os.environ["SINK_PORT"])
            smtp = aiosmtplib.SMTP(hostname="127.0.0.1", port=port, use_tls=False, start_tls=False)
            await smtp.connect()
            self._idle.put_nowait(smtp)

    async def send(self, address: str, raw: str) -> None:
        """Send one mail."""
        if not self._has_begun:
            self._has_begun = True
            print(f"first {time.time()}", flush=True)  # noqa: T201
        smtp = await self._idle.get()
        try:
            await smtp.sendmail(SENDER, [address], raw)
        finally:
            self._idle.put_nowait(smtp)
