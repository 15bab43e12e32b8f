"""The server side of SMTP on one connection; received bytes may be split at any place.

Only CR LF . CR LF ends a message, and only CR LF ends a command: anything similar is content or an
error (SMTP smuggling).
"""

import asyncio
from typing import cast

from mailqueue.smtp.client.deadline import Deadline
from mailqueue.smtp.server import answer as server_answer
from mailqueue.smtp.server import login
from mailqueue.smtp.server.handler import SmtpService
from mailqueue.smtp.server.lmtp import session_of
from mailqueue.smtp.server.replies import ReplyQueue

END = b"\r\n.\r\n"
SHUTDOWN_SECONDS = 5.0  # for the client's close_notify of TLS


class ServerConversation(asyncio.Protocol):
    """The connection of one client."""

    def __init__(self, service: SmtpService, connections: set["ServerConversation"]) -> None:
        loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[None] = loop.create_future()
        self._connections = connections
        self._loop = loop
        self._tls = service.tls
        self._limits = service.limits
        self._began = loop.time()
        self._message_began = 0.0
        self._message_bytes = 0
        self._securing: asyncio.Task[None] | None = None
        self._replies = ReplyQueue(loop, self._moved)
        self._session = session_of(service, self._replies)
        self._idle = Deadline(loop, self._late, shortest_s=service.limits.idle_s)
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._at = 0  # first byte not read yet; in a message, the CR LF before its first line
        self._searched: int | None = None  # in a message: the end does not begin before this index
        self._is_too_big = False
        self._is_paused = False
        self._is_full = False  # the client does not read its replies

    # Callbacks of asyncio.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # create_server() makes a Transport
        peer = transport.get_extra_info("peername")
        self._session.address = peer[0] if isinstance(peer, tuple) else ""
        self._session.is_secure = transport.get_extra_info("sslcontext") is not None
        if len(self._connections) >= self._limits.connections:
            self._session.reply(server_answer.TOO_MANY_CONNECTIONS)
        elif self._are_too_many():
            self._session.reply(server_answer.TOO_MANY_FROM_YOU)
        else:
            self._connections.add(self)
            self._idle.start(self._timeout_s)
            self._session.greet()
        self._flush()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._session.is_ending = True
        if self._securing is not None:
            self._securing.cancel()
        self._idle.stop()
        self._replies.cancel()
        self._session.ended()
        self._connections.discard(self)
        if not self.ended.done():
            self.ended.set_result(None)

    def eof_received(self) -> bool:
        """Answer the commands received so far, then close."""
        self._session.is_ending = True
        self._flush()
        return not self._session.is_secure  # else asyncio logs a warning

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full = False
        self._go_on()

    def data_received(self, data: bytes) -> None:
        session = self._session
        if session.is_ending:
            return
        self._buffer += data
        if session.is_in_message:
            self._idle.set(self._limits.idle_s)
            self._message_bytes += len(data)
        if self._is_too_slow():
            session.give_up(server_answer.TOO_SLOW)
            self._flush()
        else:
            self._go_on()

    def stop(self) -> None:
        """End the conversation after the messages already received are answered."""
        if self._session.is_securing:
            self.abort()
        elif not self._session.is_ending:
            self._session.reply(server_answer.SHUTTING_DOWN)
            self._flush()

    @property
    def is_awaited(self) -> bool:
        """Return whether a received message has no reply yet."""
        return bool(self._replies.waiting)

    def abort(self) -> None:
        """Close the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    # Reading and replying.

    def _go_on(self) -> None:
        session = self._session
        while self._may_read():
            more = self._take_message() if session.is_in_message else self._take_line()
            if not more:
                break
        if self._at:
            del self._buffer[: self._at]
            if self._searched is not None:
                self._searched -= self._at
            self._at = 0
        self._flush()

    def _may_read(self) -> bool:
        session, replies = self._session, self._replies
        return not (
            session.is_ending
            or session.is_logging_in
            or session.is_securing
            or self._is_full
            or replies.waiting >= self._limits.waiting
            or replies.waiting_bytes > self._limits.message_bytes
        )

    def _moved(self) -> None:
        self._idle.set(self._timeout_s)
        self._go_on()

    def _flush(self) -> None:
        transport = self._transport
        if transport is None or transport.is_closing() or self._securing is not None:
            return
        out = self._replies.take()
        if out:
            transport.write(out)
        is_over = self._session.is_ending and not self._replies.waiting
        if self._session.is_securing:
            if self._securing is None and not self._replies.waiting:
                self._securing = self._loop.create_task(self._secure(transport))
        elif self._replies.hung_up or is_over:
            self._session.is_ending = True
            transport.close()
        elif self._may_read() is self._is_paused:
            self._is_paused = not self._is_paused
            (transport.pause_reading if self._is_paused else transport.resume_reading)()

    def _late(self) -> None:
        if self._replies.waiting:  # the server has a reply to send: the client is not late
            self._idle.set(self._limits.idle_s)
            return
        if self._session.is_securing:
            self.abort()
            return
        self._session.reply(server_answer.IDLE)
        self._flush()

    async def _secure(self, plain: asyncio.Transport) -> None:
        """Start TLS. Bytes that the client sends next are read after the handshake."""
        assert self._tls is not None
        if self._buffer:  # received in plain text, and would be read as if received under TLS
            plain.abort()
            return
        try:
            secure = await self._loop.start_tls(
                plain,
                self,
                self._tls,
                server_side=True,
                ssl_handshake_timeout=self._limits.handshake_s,
                ssl_shutdown_timeout=SHUTDOWN_SECONDS,
            )
        except OSError:  # also ssl.SSLError: no TLS handshake, or the client disconnected
            secure = None
        self._securing = None
        if secure is None:
            plain.abort()
            self.connection_lost(None)
            return
        self._transport = secure
        self._is_paused = False
        self._session.secured()
        self._idle.set(self._timeout_s)
        self._go_on()

    @property
    def _timeout_s(self) -> float:
        """Return how many seconds this client may send nothing."""
        limits = self._limits
        if limits.login_s is None or not self._session.must_log_in:
            return limits.idle_s
        return min(limits.idle_s, max(0.0, self._began + limits.login_s - self._loop.time()))

    def _are_too_many(self) -> bool:
        most = self._limits.connections_per_address
        if most is None:
            return False
        mine = self._session.address
        return sum(each._session.address == mine for each in self._connections) >= most

    def _is_too_slow(self) -> bool:
        """Return whether a client sends too slowly; one that sends nothing is left to the timer."""
        limits, now = self._limits, self._loop.time()
        if self._session.is_in_message:
            took = now - self._message_began
            too_long = limits.message_s is not None and took > limits.message_s
            least = limits.min_bytes_per_s
            return too_long or (took > limits.grace_s and self._message_bytes < took * least)
        if limits.login_s is None or not self._session.must_log_in:
            return False
        return now - self._began > limits.login_s

    def _take_line(self) -> bool:
        """Read one command; return False if more bytes are needed."""
        session = self._session
        most = self._limits.command_bytes if session.challenge is None else login.LINE_BYTES
        buffer, start = self._buffer, self._at
        end = buffer.find(b"\n", start, start + most)
        if end < 0:
            if len(buffer) - start >= most:
                is_login = session.challenge is not None
                answer = server_answer.LOGIN_TOO_LONG if is_login else server_answer.TOO_LONG
                session.give_up(answer)
            return False
        if end == start or buffer[end - 1] != 0x0D:
            session.give_up(server_answer.BARE_LINE_END)
            return False
        self._at = end + 1
        self._idle.set(self._timeout_s)
        session.take_line(bytes(buffer[start : end - 1]), is_last=len(buffer) == end + 1)
        if session.is_in_message:
            # The CR LF of the command counts as the one before a dot on the first line.
            self._at = self._searched = end - 1
            self._is_too_big = False
            self._message_began = self._loop.time()
            self._message_bytes = 0
        return True

    def _take_message(self) -> bool:
        """Read a message to its end; return False if more bytes are needed."""
        buffer, start = self._buffer, self._at
        end = buffer.find(END, start if self._searched is None else self._searched)
        size = (len(buffer) if end < 0 else end) - start
        self._is_too_big = self._is_too_big or size > self._session.max_bytes
        if end < 0:
            if self._is_too_big:  # keep only what may be the beginning of its end
                self._at = max(start, len(buffer) - len(END) + 1)
            self._searched = max(self._at, len(buffer) - len(END) + 1)
            return False
        raw = None if self._is_too_big else _unstuffed(bytes(buffer[start + 2 : end + 2]))
        self._at = end + len(END)
        self._searched = None
        self._session.take_message(raw)
        return True


def _unstuffed(body: bytes) -> bytes:
    """Return the body with doubled leading dots undone (RFC 5321 section 4.5.2)."""
    if body.startswith(b"."):
        body = body[1:]
    return body.replace(b"\r\n.", b"\r\n") if b"\r\n." in body else body
