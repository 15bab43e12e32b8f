"""Calls customers' endpoints: guarded, bounded in time and size, over connections kept open."""

import asyncio
import ssl
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from mailqueue.adapters.http.model import Answer, Call, HttpTimeouts, Reach, Reading, Site, site_of
from mailqueue.adapters.http.wire import Wire, connect
from mailqueue.core.verdict import Rejected
from mailqueue.ports.webhook import Headers, Posted
from mailqueue.smtp.client.trust import system_trust

TOTAL_SECONDS = 15.0
"""For all of a call: name, connection, TLS, request and answer."""
KEPT_SECONDS = 30.0
"""So long a connection waits for the next call."""
MOST_KEPT = 32
"""Of one site; more calls at once close theirs."""
MOST_LOOKUPS = 128
"""Names looked up at once: one whose servers never answer keeps no other waiting."""
MOST_BODY_BYTES = 16 * 1024
BODY_SECONDS = 1.0
_STATUS_SAYS_IT = Reading(MOST_BODY_BYTES, BODY_SECONDS)
_LONGEST_WAIT = timedelta(hours=24)


class HttpPoster:
    """See `ports.webhook.Poster`."""

    def __init__(
        self,
        reach: Reach,
        *,
        tls_context: ssl.SSLContext | None = None,
        total_s: float = TOTAL_SECONDS,
    ) -> None:
        """Prepare; `tls_context` None trusts what the system trusts, TLS 1.2 and later."""
        threads = ThreadPoolExecutor(MOST_LOOKUPS, thread_name_prefix="lookup")
        self._reach = replace(reach, lookups=threads)
        self._tls_context = tls_context
        self._total_s = total_s
        self._kept: dict[Site, deque[tuple[float, Wire]]] = {}

    async def post(self, url: str, headers: Headers, body: bytes) -> Posted:
        """POST one body and read what is answered."""
        begun = _now()
        answer = await self._asked(url, headers, body, by=begun + self._total_s)
        took_ms = round((_now() - begun) * 1000)
        if isinstance(answer, str):
            return Posted(None, answer, took_ms=took_ms)
        return Posted(
            answer.status,
            body=answer.body,
            retry_after=wait_of(answer.headers.get("retry-after"), now=datetime.now(UTC)),
            took_ms=took_ms,
        )

    def rest(self) -> None:
        """Close connections that were not used for some time."""
        oldest = _now() - KEPT_SECONDS
        for site, kept in list(self._kept.items()):
            while kept and (kept[0][0] < oldest or not kept[0][1].is_usable):
                kept.popleft()[1].close()
            if not kept:
                del self._kept[site]

    def close(self) -> None:
        """Close every connection that is not in use."""
        for kept in self._kept.values():
            for _, wire in kept:
                wire.close()
        self._kept.clear()

    async def _asked(self, url: str, headers: Headers, body: bytes, *, by: float) -> Answer | str:
        try:
            site, path = target_of(url)
        except ValueError as exc:
            return str(exc)
        call = Call("POST", path, headers, body)
        try:
            async with asyncio.timeout_at(by + BODY_SECONDS):
                return await self._called(site, call, by=by)
        except TimeoutError:
            return _LATE

    async def _called(self, site: Site, call: Call, *, by: float) -> Answer | str:
        wire = self._taken(site)
        if wire is not None:
            answer = await wire.ask(call, may_finish=_always, by=by)
            if isinstance(answer, Answer):
                self._keep(site, wire)
                return answer
            if _now() >= by:
                return _LATE
            # It hung up while we wrote: as likely before it read as after. Once more, then.
        opened = await self._opened(site, by=by)
        if isinstance(opened, Rejected):
            return _words(opened)
        answer = await opened.ask(call, may_finish=_always, by=by)
        if isinstance(answer, Rejected):
            return _words(answer)
        self._keep(site, opened)
        return answer

    async def _opened(self, site: Site, *, by: float) -> Wire | Rejected:
        if site.scheme == "https" and self._tls_context is None:
            self._tls_context = await system_trust()
        left = max(0.001, by - _now())
        return await connect(
            site,
            self._reach,
            timeouts=HttpTimeouts(left, self._total_s, self._total_s),
            context=self._tls_context if site.scheme == "https" else None,
            reading=_STATUS_SAYS_IT,
        )

    def _taken(self, site: Site) -> Wire | None:
        kept = self._kept.get(site)
        while kept:
            since, wire = kept.pop()  # the one used last: the others may rest
            if wire.is_usable and _now() - since < KEPT_SECONDS:
                return wire
            wire.close()
        return None

    def _keep(self, site: Site, wire: Wire) -> None:
        kept = self._kept.setdefault(site, deque())
        if wire.is_usable and len(kept) < MOST_KEPT:
            kept.append((_now(), wire))
        else:
            wire.close()


_LATE = "no answer in time"


def target_of(url: str) -> tuple[Site, str]:
    """Split an endpoint's address into the server and what is asked for there. Pure.

    Raises:
        ValueError: it is no such address.
    """
    parts = urlsplit(url)
    site = site_of(f"{parts.scheme}://{parts.netloc}")
    return site, (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def wait_of(header: str | None, *, now: datetime) -> timedelta | None:
    """Read a Retry-After (RFC 9110, 10.2.3): seconds or a date; None if it is neither. Pure."""
    if header is None:
        return None
    text = header.strip()
    if text.isascii() and text.isdigit():
        return min(timedelta(seconds=int(text[:9])), _LONGEST_WAIT)
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    if until.tzinfo is None:  # "-0000"
        until = until.replace(tzinfo=UTC)
    return min(max(until - now, timedelta(0)), _LONGEST_WAIT)


def _words(refused: Rejected) -> str:
    return refused.detail


def _always() -> bool:
    return True


def _now() -> float:
    return asyncio.get_running_loop().time()
