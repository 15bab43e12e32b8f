"""One connection to an HTTP server, with one request at a time.

It follows no redirects, uses no proxies and no cookies, and requests bodies unencoded.
"""

import asyncio
import ssl
from collections.abc import Callable
from ipaddress import ip_address
from typing import cast

import h11

from mailqueue import __version__
from mailqueue.adapters.http.model import (
    WHOLE_BODY,
    HttpOrigin,
    HttpRequest,
    HttpResponse,
    HttpTimeouts,
    NetworkPolicy,
    ResponseLimits,
)
from mailqueue.core.outbound_guard import is_public
from mailqueue.core.verdict import Fault, Rejected, Stage
from mailqueue.smtp.client.dial import dial

MAX_HEAD_BYTES = 64 * 1024
USER_AGENT = f"mailqueue/{__version__}"


async def connect(
    site: HttpOrigin,
    policy: NetworkPolicy,
    *,
    timeouts: HttpTimeouts,
    context: ssl.SSLContext | None,
    reading: ResponseLimits = WHOLE_BODY,
) -> "HttpConnection | Rejected":
    """Connect to an address that `policy` allows and start TLS; `context` None is for http."""
    loop = asyncio.get_running_loop()
    end = loop.time() + timeouts.connect_s
    sock = await dial(
        site.host,
        site.port,
        allow_private=policy.allow_private,
        allowed=policy.allowed_networks,
        timeout_s=timeouts.connect_s,
        lookups=policy.lookups,
    )
    if isinstance(sock, Rejected):
        return sock
    if context is None and is_public(ip_address(sock.getpeername()[0])):
        sock.close()
        why = "an API key is not sent over the internet without TLS"
        return Rejected(Fault.ACCOUNT, "", why, Stage.CONNECT)
    try:
        async with asyncio.timeout_at(end):
            transport, inbox = await loop.create_connection(
                lambda: _Inbox(reading.max_bytes),
                sock=sock,
                ssl=context,
                server_hostname=site.host if context is not None else None,
            )
    except (OSError, TimeoutError) as error:
        sock.close()
        return _not_secured(error)
    except asyncio.CancelledError:
        sock.close()
        raise
    return HttpConnection(site, transport, inbox, timeouts, reading)


class HttpConnection:
    """An open connection; after any failure it is not usable any more."""

    def __init__(
        self,
        site: HttpOrigin,
        transport: asyncio.Transport,
        inbox: "_Inbox",
        timeouts: HttpTimeouts,
        reading: ResponseLimits,
    ) -> None:
        self._site = site
        self._reading = reading
        self._transport = transport
        self._inbox = inbox
        self._timeouts = timeouts
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD_BYTES)
        self._end = 0.0  # of the request in progress, by the event loop's clock
        self.asked: tuple[str, int] | None = None  # last request: method and URL, bytes of its body

    @property
    def is_usable(self) -> bool:
        """Return whether another request may be sent: the server has not closed the connection, and
        has sent nothing unrequested.
        """
        return (
            not self._transport.is_closing()
            and not self._inbox.is_over
            and not self._inbox.octets
            and self._http.our_state is h11.IDLE
        )

    async def ask(
        self, call: HttpRequest, *, may_finish: Callable[[], bool], by: float | None = None
    ) -> HttpResponse | Rejected:
        """Send one request and return its response, until `by` of the event loop's clock.

        Rejected is TRANSIENT if nothing was sent, AMBIGUOUS if no response came.
        """
        if not self.is_usable:
            self.close()
            return Rejected(Fault.TRANSIENT, "", "the connection was closed", Stage.CONNECT)
        try:
            octets = self._written(call)
        except h11.LocalProtocolError:
            self.close()
            why = "the request cannot be written: a key or setting contains invalid characters"
            return Rejected(Fault.ACCOUNT, "", why, Stage.CONNECT)
        if not may_finish():
            self.close()
            return Rejected(Fault.TRANSIENT, "", "the worker is stopping", Stage.DATA)
        self._end = by or asyncio.get_running_loop().time() + self._timeouts.call_s
        url = f"{self._site.scheme}://{self._site.authority}{self._site.prefix}{call.path}"
        self.asked = f"{call.method} {url}", len(call.body)
        self._transport.write(octets)
        try:
            return await self._answer()
        except TimeoutError:
            why = "no answer in time"
        except (h11.RemoteProtocolError, ValueError):
            why = "the server's response is not HTTP"
        except _CutOff:
            why = "the answer was cut off"
        except ConnectionError:
            why = "the connection broke before an answer came"
        except asyncio.CancelledError:
            self.close()
            raise
        self.close()
        return Rejected(Fault.AMBIGUOUS, "", why, Stage.DOT)

    def close(self) -> None:
        """Close at once; what was not sent yet is dropped."""
        self._transport.abort()

    def _written(self, call: HttpRequest) -> bytes:
        headers = [
            ("Host", self._site.authority),
            ("User-Agent", USER_AGENT),
            ("Accept-Encoding", "identity"),
            *call.headers,
            *([("Content-Length", str(len(call.body)))] if call.method != "GET" else []),
        ]
        pieces = [
            self._http.send(
                h11.Request(
                    method=call.method, target=self._site.prefix + call.path, headers=headers
                )
            ),
            self._http.send(h11.Data(data=call.body)) if call.body else b"",
            self._http.send(h11.EndOfMessage()),
        ]
        return b"".join(piece for piece in pieces if piece)

    async def _answer(self) -> HttpResponse:
        while not isinstance(event := await self._event(), h11.Response):
            if not isinstance(event, h11.InformationalResponse):
                raise ConnectionError
        headers = {name.decode("ascii"): value.decode("latin-1") for name, value in event.headers}
        if self._reading.body_s is not None:
            enough = asyncio.get_running_loop().time() + self._reading.body_s
            self._end = min(self._end, enough)
        body, is_complete = await self._body()
        if is_complete and self._http.our_state is h11.DONE is self._http.their_state:
            self._http.start_next_cycle()
            if self._http.trailing_data[0]:
                self.close()  # more than one response to one request
        else:
            self.close()
        is_vital = self._reading.body_s is None
        if is_vital and not is_complete and 200 <= event.status_code < 300:
            raise _CutOff
        if headers.get("content-encoding", "identity") != "identity":
            body = b""  # not requested, and decompressing it may be unbounded
        return HttpResponse(event.status_code, headers, body)

    async def _body(self) -> tuple[bytes, bool]:
        body = bytearray()
        while len(body) <= self._reading.max_bytes:
            try:
                event = await self._event()
            except (h11.RemoteProtocolError, ConnectionError, TimeoutError):
                break
            if isinstance(event, h11.EndOfMessage):
                return bytes(body), True
            if isinstance(event, h11.Data):
                body += event.data
        return bytes(body[: self._reading.max_bytes]), False

    async def _event(self) -> object:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            next_byte = asyncio.get_running_loop().time() + self._timeouts.read_s
            self._http.receive_data(await self._inbox.read(by=min(next_byte, self._end)))
        if isinstance(event, h11.ConnectionClosed) or event is h11.PAUSED:
            raise ConnectionError
        return event


class _CutOff(Exception):
    """A success whose body ended early or is too long."""


class _Inbox(asyncio.Protocol):
    """The bytes received and not read yet."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self.octets = bytearray()
        self.is_over = False
        self._has_news = asyncio.Event()
        self._is_paused = False
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self.octets += data
        if len(self.octets) > self._max_bytes and not self._is_paused and self._transport:
            self._transport.pause_reading()
            self._is_paused = True
        self._has_news.set()

    def eof_received(self) -> None:
        self.is_over = True
        self._has_news.set()

    def connection_lost(self, _exc: Exception | None) -> None:
        self.is_over = True
        self._has_news.set()

    async def read(self, *, by: float) -> bytes:
        """Return the bytes received, waiting for the first; b"" at the end.

        Raises:
            TimeoutError: nothing was received until `by` of the event loop's clock.
        """
        async with asyncio.timeout_at(by):
            while not self.octets and not self.is_over:
                self._has_news.clear()
                await self._has_news.wait()
        found = bytes(self.octets)
        self.octets.clear()
        if self._is_paused and self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()
            self._is_paused = False
        return found


def _not_secured(error: Exception) -> Rejected:
    if isinstance(error, ssl.SSLCertVerificationError):
        why = f"the server's certificate is not valid: {error.verify_message}"
        return Rejected(Fault.ACCOUNT, "", why, Stage.CONNECT)
    if isinstance(error, ssl.SSLError):
        reason = (error.reason or "handshake failed").replace("_", " ").lower()
        return Rejected(Fault.TRANSIENT, "", f"TLS failed: {reason}", Stage.CONNECT)
    if isinstance(error, TimeoutError):
        return Rejected(Fault.TRANSIENT, "", "no answer in time (TLS)", Stage.CONNECT)
    return Rejected(Fault.TRANSIENT, "", "the connection broke (TLS)", Stage.CONNECT)
