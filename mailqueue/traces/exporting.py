"""Exports spans to a collector by OTLP over HTTP, a page of them at a time.

The database remembers how far it is: a collector that is down costs memory for one page and
nothing else, and gets what was missed afterwards. One process at a time exports.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import uuid4

import orjson

from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import MailqueueError
from mailqueue.core.storable_text import storable
from mailqueue.db.fetch import Conn
from mailqueue.ports.webhook import Posted, Poster, WebhookHeaders
from mailqueue.telemetry.log import get_logger
from mailqueue.traces import store
from mailqueue.traces.calls import call_spans
from mailqueue.traces.model import TraceCall, TracePage, TraceSpan, TraceStep
from mailqueue.traces.otlp import CONTENT_TYPE, encode, rejected_of
from mailqueue.traces.spans import spans_of, with_stages

PAGE_STEPS = 300
"""Attempts and events of one request, of 6 spans each at most; half as many calls of webhooks are
beside them, of one span: about 2 MB as JSON."""
MAX_AGE = timedelta(days=1)
"""Age from which what a collector did not take is left out."""
FULL_PAGE = timedelta(seconds=59)
"""Time from which others follow a page: SQL's begin_trace_page() lets it cover a minute."""
FIRST_SPAN = timedelta(seconds=5)
"""Time that the first page covers; each covers twice as much as the one before could."""
LEAST_SPAN = timedelta(milliseconds=100)
"""Time that a page covers at least: it reads all of it and takes the first PAGE_STEPS."""
LEASE = timedelta(minutes=1)
"""Time after which another process exports in place of one that has died."""
TOO_LONG = "the collector was down for too long"
IDLE_SECONDS = 1.0
HELD_SECONDS = 10.0
MAX_WAIT_SECONDS = 60.0
"""Longest wait after a failure; the first is IDLE_SECONDS, and each doubles."""
_UNUSABLE = frozenset({400, 413, 415, 422})
"""Answers to a request that stays as it is: its spans are left out."""

LendTraces = Callable[[], AbstractAsyncContextManager[Conn]]
log = get_logger(__name__)


class ExportState(StrEnum):
    """What one turn of the exporter came to."""

    MORE = "more"  # there may be more at once
    IDLE = "idle"
    HELD = "held"  # another process exports
    FAILED = "failed"  # the collector did not take the page


@dataclass(frozen=True, slots=True)
class TraceTarget:
    """The collector, and the share of emails without a context that are exported."""

    url: str
    headers: WebhookHeaders = ()
    ratio: float = 0.0


@dataclass(frozen=True, slots=True)
class TracedSteps:
    """What one request exports: steps up to `to`, None if none may be read yet, and calls."""

    steps: Sequence[TraceStep] = ()
    is_old: bool = False
    to: tuple[datetime, str] | None = None
    calls: Sequence[TraceCall] = ()
    is_more: bool = False

    def spans(self) -> tuple[list[TraceSpan], list[TraceSpan]]:
        """Return the spans to export, and those that are too old for it."""
        fresh, old = list[TraceSpan](), list[TraceSpan]()
        for step in self.steps:
            (old if self.is_old else fresh).extend(spans_of(step))
        for call in self.calls:
            (old if call.is_old else fresh).extend(call_spans(call))
        return fresh, old


class TraceExporter:
    """Reads pages, posts them, and moves on once the collector has them."""

    def __init__(
        self,
        lend: LendTraces,
        poster: Poster,
        target: TraceTarget,
        *,
        page_steps: int = PAGE_STEPS,
        max_age: timedelta = MAX_AGE,
    ) -> None:
        self._id = uuid4()
        self._lend = lend
        self._poster = poster
        self._target = target
        self._page_steps = page_steps
        self._max_age = max_age
        self._is_start = True
        self._failures = 0
        self._rest: timedelta | None = None
        self._span = FIRST_SPAN

    async def run(self, stop: asyncio.Event) -> None:
        """Export until `stop` is set; then let another process do so."""
        stopping = asyncio.create_task(stop.wait())
        try:
            while not stop.is_set():
                try:
                    wait = self._wait(await self.turn())
                except MailqueueError as exc:
                    log.warning("traces.database_failed", error=str(exc))
                    wait = HELD_SECONDS
                self._poster.rest()
                resting = asyncio.create_task(asyncio.sleep(wait))
                await asyncio.wait({stopping, resting}, return_when=asyncio.FIRST_COMPLETED)
                resting.cancel()
        finally:
            stopping.cancel()
            self._poster.close()
            with suppress(MailqueueError):  # the lease ends by itself
                async with self._lend() as conn:
                    await store.release(conn, self._id)

    async def turn(self) -> ExportState:
        """Export one page. No transaction is open while the collector is asked."""
        async with self._lend() as conn:
            page = await store.begin_page(
                conn, self._id, lease=LEASE, max_age=self._max_age, is_start=self._is_start
            )
        if page.state == "held":
            return ExportState.HELD
        taken = await self._read(page)
        if taken.to is None and not taken.calls:
            return ExportState.IDLE
        state = await self._export(taken)
        if state is not ExportState.FAILED and taken.to is not None and page.exported_to:
            self._span = max(2 * (taken.to[0] - page.exported_to), LEAST_SPAN)
        return state

    async def _read(self, page: TracePage) -> TracedSteps:
        """Return what is exported next: at most `page_steps` steps and half as many calls."""
        ratio, most = self._target.ratio, self._page_steps
        async with self._lend() as conn:
            calls = await store.read_calls(
                conn, ratio=ratio, max_age=self._max_age, limit=max(1, most // 2)
            )
            if page.state != "ready" or page.until is None:
                return TracedSteps(calls=calls, is_more=len(calls) >= max(1, most // 2))
            self._is_start = False
            narrow = _within(page, self._span)
            steps = await store.read_page(conn, narrow, ratio=ratio, limit=most)
            if attempts := [one.email_id for one in steps if one.event_id is None]:
                steps = with_stages(steps, await store.read_stages(conn, attempts))
        to = _end_of(narrow, steps, most)
        is_more = to[0] < page.until or len(steps) >= most or _is_behind(page)
        return TracedSteps(
            steps, page.is_old, to, calls, is_more=is_more or len(calls) >= max(1, most // 2)
        )

    async def _export(self, taken: TracedSteps) -> ExportState:
        spans, old = taken.spans()
        sent, left_out, error = len(spans), len(old), TOO_LONG if old else None
        if spans:
            reach("traces.read")
            posted = await self._poster.post(self._target.url, self._headers(), encode(spans))
            fault = _fault_of(posted)
            if fault is not None and posted.status not in _UNUSABLE:
                return await self._failed(posted, fault)
            if fault is not None:
                rejected, error = sent, fault
            else:
                rejected, why = rejected_of(_document(posted.body))
                rejected, error = min(rejected, sent), why or error
            sent, left_out = sent - rejected, left_out + rejected
            reach("traces.taken")
        if left_out:
            log.warning("traces.left_out", count=left_out, error=error)
        if self._failures and sent:
            log.info("traces.recovered", failures=self._failures)
        self._failures = 0
        async with self._lend() as conn, conn.transaction():
            is_held = await store.end_page(
                conn, self._id, to=taken.to, spans=sent, left_out=left_out, error=error or None
            )
            if is_held and taken.calls:
                await store.end_calls(conn, taken.calls)
        if not is_held:
            return ExportState.HELD
        return ExportState.MORE if taken.is_more else ExportState.IDLE

    async def _failed(self, posted: Posted, error: str) -> ExportState:
        if not self._failures:  # once, however long it lasts
            log.warning("traces.collector_failed", error=error)
        self._failures += 1
        self._rest = posted.retry_after
        async with self._lend() as conn:
            await store.end_page(conn, self._id, to=None, error=error)
        return ExportState.FAILED

    def _headers(self) -> WebhookHeaders:
        return (("Content-Type", CONTENT_TYPE), *self._target.headers)

    def _wait(self, state: ExportState) -> float:
        match state:
            case ExportState.MORE:
                return 0.0
            case ExportState.HELD:
                return HELD_SECONDS
            case ExportState.FAILED:
                asked = self._rest.total_seconds() if self._rest is not None else 0.0
                wait = IDLE_SECONDS * float(1 << min(max(self._failures - 1, 0), 6))
                return min(max(wait, asked), MAX_WAIT_SECONDS)
            case _:
                return IDLE_SECONDS


def _within(page: TracePage, span: timedelta) -> TracePage:
    """Return a page that covers at most `span`, to a millisecond: ids of events have no less.

    Reading costs what is in the time that is covered. Twice the time of the page before keeps
    that near PAGE_STEPS when there is much, and passes quiet hours by minutes.
    """
    if page.until is None or page.exported_to is None:
        return page
    until = page.exported_to + span
    until = until.replace(microsecond=until.microsecond // 1000 * 1000)
    return page._replace(until=min(page.until, until))


def _end_of(page: TracePage, steps: list[TraceStep], limit: int) -> tuple[datetime, str]:
    """Return up to where a page leads: its last step, or its end if it has all steps before it."""
    assert page.until is not None, "a page that is ready has an end"
    if len(steps) < limit:
        return page.until, ""
    return steps[-1].at, steps[-1].key


def _is_behind(page: TracePage) -> bool:
    """Return whether the page covers as much time as a page may: others follow it."""
    if page.until is None or page.exported_to is None:
        return False
    return page.until - page.exported_to >= FULL_PAGE


def _fault_of(posted: Posted) -> str | None:
    if posted.status is None:
        return storable(posted.why) or "no answer"
    return None if 200 <= posted.status < 300 else f"it answered {posted.status}"


def _document(body: bytes) -> object:
    try:
        return orjson.loads(body) if body else None
    except orjson.JSONDecodeError:
        return None
