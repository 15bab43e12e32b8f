"""Gets a small document over https from a host outside, and from none inside."""

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
    """Return what fetches a URL: its body, None where the server has none for us.

    It follows no redirect. `context` None trusts what the system trusts. What it gives raises
    Unavailable where there is no answer.
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
            raise Unavailable(f"cannot fetch from {site.host}: it answers {answer.status}")
        return answer.body if answer.is_success and len(answer.body) <= MAX_BYTES else None

    return fetch
