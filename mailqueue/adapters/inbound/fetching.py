"""Fetches small documents over https from public addresses."""

import ssl
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from mailqueue.adapters.http.connection import connect
from mailqueue.adapters.http.model import (
    PUBLIC_ONLY,
    HttpOrigin,
    HttpRequest,
    HttpTimeouts,
    NetworkPolicy,
)
from mailqueue.core.errors import Unavailable
from mailqueue.core.verdict import Rejected
from mailqueue.smtp.client.trust import system_trust

MAX_BYTES = 64 * 1024
TIMEOUTS = HttpTimeouts(connect_s=5.0, read_s=5.0, call_s=10.0)


def fetcher(
    policy: NetworkPolicy = PUBLIC_ONLY, *, context: ssl.SSLContext | None = None
) -> Callable[[str], Awaitable[bytes | None]]:
    """Return a function that fetches a URL and returns its body, or None if the status is not 2xx.

    It follows no redirects and raises Unavailable if no response is received. `context` None trusts
    the system's certificates.
    """

    async def fetch(url: str) -> bytes | None:
        parts = urlsplit(url)
        if parts.scheme != "https" or not parts.hostname:
            return None
        site = HttpOrigin("https", parts.hostname, parts.port or 443)
        trust = context or await system_trust()
        connection = await connect(site, policy, timeouts=TIMEOUTS, context=trust)
        if isinstance(connection, Rejected):
            raise Unavailable(f"cannot fetch from {site.host}: {connection.detail}")
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        try:
            answer = await connection.ask(HttpRequest("GET", path), may_finish=lambda: True)
        finally:
            connection.close()
        if isinstance(answer, Rejected):
            raise Unavailable(f"cannot fetch from {site.host}: {answer.detail}")
        if answer.status >= 500 or answer.status == 429:
            raise Unavailable(
                f"cannot fetch from {site.host}: it responds with HTTP {answer.status}"
            )
        return answer.body if answer.is_success and len(answer.body) <= MAX_BYTES else None

    return fetch
