"""Runs an SMTP server on a port, and stops it after pending messages are answered."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ssl import SSLContext

from mailqueue.smtp.server.conversation import SHUTDOWN_SECONDS, ServerConversation
from mailqueue.smtp.server.handler import Authenticate, MessageHandler, ServerLimits, SmtpService

GOODBYE_SECONDS = 1.0


@asynccontextmanager
async def smtp_server(
    handler: MessageHandler,
    *,
    host: str,
    port: int,
    hostname: str = "localhost",
    authenticate: Authenticate | None = None,
    limits: ServerLimits | None = None,
    tls: SSLContext | None = None,
    is_implicit: bool = False,
    takes_lmtp: bool = False,
) -> AsyncIterator[int]:
    """Serve until the block ends; yield the port, which is a free one if `port` is 0.

    With `tls` the server offers STARTTLS, and requires it before a login from another host;
    with `is_implicit` the connection begins with a TLS handshake. With `takes_lmtp` clients that
    send LHLO use LMTP.

    At the end no new connections are accepted; messages already received are answered if that
    takes at most `limits.drain_s` seconds.

    Raises:
        OSError: the address cannot be used.
    """
    service = SmtpService(
        handler, limits or ServerLimits(), hostname, authenticate, tls, takes_lmtp
    )
    connections: set[ServerConversation] = set()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: ServerConversation(service, connections),
        host,
        port,
        backlog=1_024,
        ssl=tls if is_implicit else None,
        ssl_handshake_timeout=service.limits.handshake_s if is_implicit else None,
        ssl_shutdown_timeout=SHUTDOWN_SECONDS if is_implicit else None,
    )
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await _drain(connections, service.limits.drain_s)


async def _drain(connections: set[ServerConversation], drain_s: float) -> None:
    for conversation in tuple(connections):
        conversation.stop()
    endings = [each.ended for each in connections]
    awaited = [each.ended for each in connections if each.is_awaited]
    if awaited:
        await asyncio.wait(awaited, timeout=drain_s)
    if endings:  # clients without a pending reply may take long to answer close_notify under TLS
        await asyncio.wait(endings, timeout=min(drain_s, GOODBYE_SECONDS))
    for conversation in tuple(connections):
        conversation.abort()
    if endings:
        await asyncio.wait(endings)
