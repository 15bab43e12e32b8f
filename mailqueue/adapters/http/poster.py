"""POSTs to customers' endpoints: to allowed addresses, bounded in time and size."""

import asyncio
import ssl
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from mailqueue.adapters.http.connection import HttpConnection, connect
from mailqueue.adapters.http.model import (
    HttpOrigin,
    HttpRequest,
    HttpResponse,
    HttpTimeouts,
    NetworkPolicy,
    ResponseLimits,
    read_origin,
)
from mailqueue.core.verdict import Fault, Rejected, Stage
from mailqueue.ports.webhook import Posted, WebhookHeaders
from mailqueue.smtp.client.trust import system_trust

TOTAL_SECONDS = 15.0
"""Limit of a whole request: DNS, connection, TLS, request and response."""
KEPT_SECONDS = 30.0
"""Time for which an idle connection is kept."""
MAX_KEPT_CONNECTIONS = 32
"""Idle connections kept for one origin."""
MAX_LOOKUPS = 128
"""Concurrent DNS lookups: a name server that does not answer delays no other lookup."""
MAX_BODY_BYTES = 16 * 1024
BODY_SECONDS = 1.0
_STATUS_ONLY = ResponseLimits(MAX_BODY_BYTES, BODY_SECONDS)
_MAX_WAIT = timedelta(hours=24)


class HttpPoster:
    """See `ports.webhook.Poster`."""

    def __init__(
        self,
        policy: NetworkPolicy,
        *,
        tls_context: ssl.SSLContext | None = None,
        total_s: float = TOTAL_SECONDS,
        posts_once: bool = False,
    ) -> None:
        """Prepare; `tls_context` None trusts what the system trusts, TLS 1.2 and later.

        With `posts_once` each request has a connection of its own: one that is kept may close
        while a request is on its way, which is then sent again.
        """
        threads = ThreadPoolExecutor(MAX_LOOKUPS, thread_name_prefix="lookup")
        self._policy = replace(policy, lookups=threads)
        self._tls_context = tls_context
        self._total_s = total_s
        self._posts_once = posts_once
        self._kept: dict[HttpOrigin, deque[tuple[float, HttpConnection]]] = {}

    async def post(self, url: str, headers: WebhookHeaders, body: bytes) -> Posted:
        """POST one body and return the response."""
        begun = _now()
        answer = await self._asked(url, headers, body, by=begun + self._total_s)
        took_ms = round((_now() - begun) * 1000)
        if isinstance(answer, Rejected):
            was_sent = answer.kind is Fault.AMBIGUOUS
            return Posted(None, answer.detail, took_ms=took_ms, was_sent=was_sent)
        return Posted(
            answer.status,
            body=answer.body,
            retry_after=retry_after_of(answer.headers.get("retry-after"), now=datetime.now(UTC)),
            took_ms=took_ms,
        )

    def rest(self) -> None:
        """Close connections that were idle for too long."""
        oldest = _now() - KEPT_SECONDS
        for site, kept in list(self._kept.items()):
            while kept and (kept[0][0] < oldest or not kept[0][1].is_usable):
                kept.popleft()[1].close()
            if not kept:
                del self._kept[site]

    def close(self) -> None:
        """Close every connection that is not in use."""
        for kept in self._kept.values():
            for _, connection in kept:
                connection.close()
        self._kept.clear()

    async def _asked(
        self, url: str, headers: WebhookHeaders, body: bytes, *, by: float
    ) -> HttpResponse | Rejected:
        try:
            site, path = target_of(url)
        except ValueError as exc:
            return Rejected(Fault.ACCOUNT, "", str(exc), Stage.CONNECT)
        call = HttpRequest("POST", path, headers, body)
        try:
            async with asyncio.timeout_at(by + BODY_SECONDS):
                return await self._called(site, call, by=by)
        except TimeoutError:
            return _LATE

    async def _called(
        self, site: HttpOrigin, call: HttpRequest, *, by: float
    ) -> HttpResponse | Rejected:
        connection = self._taken(site)
        if connection is not None:
            answer = await connection.ask(call, may_finish=_always, by=by)
            if isinstance(answer, HttpResponse):
                self._keep(site, connection)
                return answer
            if _now() >= by:
                return _LATE
            # The server closed an idle connection: try once more on a new one.
        opened = await self._opened(site, by=by)
        if isinstance(opened, Rejected):
            return opened
        answer = await opened.ask(call, may_finish=_always, by=by)
        if isinstance(answer, Rejected):
            return answer
        self._keep(site, opened)
        return answer

    async def _opened(self, site: HttpOrigin, *, by: float) -> HttpConnection | Rejected:
        if site.scheme == "https" and self._tls_context is None:
            self._tls_context = await system_trust()
        left = max(0.001, by - _now())
        return await connect(
            site,
            self._policy,
            timeouts=HttpTimeouts(left, self._total_s, self._total_s),
            context=self._tls_context if site.scheme == "https" else None,
            reading=_STATUS_ONLY,
        )

    def _taken(self, site: HttpOrigin) -> HttpConnection | None:
        kept = self._kept.get(site)
        while kept:
            since, connection = kept.pop()  # the one used last: the others may expire
            if connection.is_usable and _now() - since < KEPT_SECONDS:
                return connection
            connection.close()
        return None

    def _keep(self, site: HttpOrigin, connection: HttpConnection) -> None:
        kept = self._kept.setdefault(site, deque())
        is_kept = connection.is_usable and len(kept) < MAX_KEPT_CONNECTIONS
        if is_kept and not self._posts_once:
            kept.append((_now(), connection))
        else:
            connection.close()


_LATE = Rejected(Fault.AMBIGUOUS, "", "no answer in time", Stage.DATA)


def target_of(url: str) -> tuple[HttpOrigin, str]:
    """Split an endpoint's URL into its origin and its path with query. Pure.

    Raises:
        ValueError: the URL is not valid.
    """
    parts = urlsplit(url)
    site = read_origin(f"{parts.scheme}://{parts.netloc}")
    return site, (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def retry_after_of(header: str | None, *, now: datetime) -> timedelta | None:
    """Parse a Retry-After (RFC 9110, 10.2.3): seconds or a date; None if it is neither. Pure."""
    if header is None:
        return None
    text = header.strip()
    if text.isascii() and text.isdigit():
        return min(timedelta(seconds=int(text[:9])), _MAX_WAIT)
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, OverflowError):  # a year or an offset beyond 32 bits
        return None
    if until.tzinfo is None:  # "-0000"
        until = until.replace(tzinfo=UTC)
    return min(max(until - now, timedelta(0)), _MAX_WAIT)


def _always() -> bool:
    return True


def _now() -> float:
    return asyncio.get_running_loop().time()
