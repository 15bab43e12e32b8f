"""Opens an SMTP server on a port and closes it without cutting off what is being answered."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ssl import SSLContext

from mailqueue.smtp.server.conversation import SHUTDOWN_SECONDS, ServerConversation
from mailqueue.smtp.server.handler import Authenticate, Handler, ServerLimits, SmtpService

GOODBYE_SECONDS = 1.0


@asynccontextmanager
async def smtp_server(
    handler: Handler,
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
    """Serve until the block ends; yield the port, which is a free one when `port` is 0.

    With `tls` clients may say STARTTLS, and have to before they log in from elsewhere than this
    machine; `is_implicit`: their first byte is TLS's. With `takes_lmtp` clients that say LHLO speak
    LMTP.

    At the end no new client is let in; messages already handed over get their answer if it comes
    within `limits.drain_s`.

    Raises:
        OSError: the address cannot be used.
    """
    service = SmtpService(
        handler, limits or ServerLimits(), hostname, authenticate, tls, takes_lmtp
    )
    open_now: set[ServerConversation] = set()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: ServerConversation(service, open_now),
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
        await _drain(open_now, service.limits.drain_s)


async def _drain(open_now: set[ServerConversation], drain_s: float) -> None:
    for conversation in tuple(open_now):
        conversation.stop()
    endings = [each.ended for each in open_now]
    awaited = [each.ended for each in open_now if each.is_awaited]
    if awaited:
        await asyncio.wait(awaited, timeout=drain_s)
    if endings:  # who has nothing to hear but goodbye may be long in answering it under TLS
        await asyncio.wait(endings, timeout=min(drain_s, GOODBYE_SECONDS))
    for conversation in tuple(open_now):
        conversation.abort()
    if endings:
        await asyncio.wait(endings)
