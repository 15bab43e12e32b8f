"""Limits of request headers: the time a client may take to send them, and their size.

The server limits neither: a connection that sends a byte now and then would stay open forever.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 20.0
HEAD_BYTES = 64 * 1024
_CLOSED = b"Connection: close\r\nContent-Length: 0\r\n\r\n"
TOO_LATE = b"HTTP/1.1 408 Request Timeout\r\n" + _CLOSED
TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\n" + _CLOSED


class BoundedHeads(HttpToolsProtocol):
    """One connection; headers that arrive in one packet, as nearly all do, cost nothing more."""

    head_seconds = HEAD_SECONDS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._is_in_head = True
        self._head_bytes = 0
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timeout for the first request."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timeout."""
        self._stop_waiting()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Reset the counter of header bytes."""
        super().on_message_begin()
        self._is_in_head = True
        self._head_bytes = 0

    def on_headers_complete(self) -> None:
        """Handle the end of the headers."""
        self._is_in_head = False
        self._stop_waiting()
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        """Process received bytes; refuse headers that have become too large."""
        super().data_received(data)
        if not self._is_in_head or self.transport.is_closing():
            return
        self._head_bytes += len(data)
        if self._head_bytes > HEAD_BYTES:
            self._refuse(TOO_LARGE)
        elif self._timer is None:
            self._wait()

    def _wait(self) -> None:
        self._timer = self.loop.call_later(self.head_seconds, self._refuse, TOO_LATE)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, answer: bytes) -> None:
        self._stop_waiting()
        if not self.transport.is_closing():
            self.transport.write(answer)
            self.transport.close()
