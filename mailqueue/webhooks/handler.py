"""The handler of queue `webhooks`: call the endpoint of a delivery, log the call."""

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import quote

from mailqueue.core.json.reading import read_json
from mailqueue.core.outcome import Defer, Done, Failed, Outcome, Retry
from mailqueue.core.queues.model import QueueSpec
from mailqueue.core.trace_context import call_span_id, parse_traceparent
from mailqueue.db.fetch import Conn
from mailqueue.db.statements import webhooks as sql
from mailqueue.ports.webhook import Poster
from mailqueue.queue.handler import Call, Handler, Settled
from mailqueue.vault.masterkey import MasterKey
from mailqueue.webhooks.call import call_endpoint
from mailqueue.webhooks.formats.registry import email_of, written
from mailqueue.webhooks.model import TIMED_EVENT, CallOutcome, CallResult, ClaimedDelivery
from mailqueue.webhooks.store import deliveries as store
from mailqueue.webhooks.targets import EndpointTargets

WAITS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 2 * 60, 12 * 60, 24 * 60))
"""Waits after the first failed attempt and the next ones, a twentieth longer at random."""
TIDY_ROWS = 5000
"""Rows that one statement cancels or deletes."""


@dataclass(frozen=True, slots=True)
class WebhookTools:
    """The adapters that the handler uses."""

    poster: Poster
    read_master: Callable[[], MasterKey | None]


class WebhookHandler(Handler[ClaimedDelivery, CallResult]):
    """Calls endpoints; calls are logged by the statement that settles them."""

    row = ClaimedDelivery
    claims_by = sql.CLAIM_WEBHOOK_CALLS

    def __init__(self, tools: WebhookTools) -> None:
        self._poster = tools.poster
        self._targets = EndpointTargets(tools.read_master)

    async def load(self, conn: Conn, rows: Sequence[ClaimedDelivery]) -> Sequence[ClaimedDelivery]:
        if unread := [row.id for row in rows if row.payload is None]:  # or no longer stored
            found = {one.id: one for one in await store.payloads_of(conn, unread)}
            rows = [
                row._replace(revision=found[row.id].revision, payload=found[row.id].payload)
                if row.id in found
                else row
                for row in rows
            ]
        if any(_may_have_context(row) for row in rows) and await store.are_calls_traced(conn):
            rows = [row._replace(is_traced=True) for row in rows]
        await self._targets.refresh(conn, {row.webhook_id: row.revision for row in rows})
        return await self._with_facts(conn, rows)

    async def _with_facts(
        self, conn: Conn, rows: Sequence[ClaimedDelivery]
    ) -> Sequence[ClaimedDelivery]:
        """Return rows with the emails of those whose format describes them."""
        ids = {
            row.id: email_of(row.payload)
            for row in rows
            if row.payload is not None and self._needs_facts(row)
        }
        wanted = {one for one in ids.values() if one is not None}
        if not wanted:
            return rows
        found = {one.id: one for one in await store.emails_of(conn, list(wanted))}
        return [
            row._replace(facts=found[email_id]) if (email_id := ids.get(row.id)) in found else row
            for row in rows
        ]

    def _needs_facts(self, row: ClaimedDelivery) -> bool:
        target = self._targets.get(row.webhook_id)
        return target is not None and target.form.write is not None

    async def handle(self, row: ClaimedDelivery) -> Outcome | CallResult:
        target = self._targets.get(row.webhook_id)
        if target is None:
            return Failed("the endpoint was removed")
        if row.payload is None:
            return Failed("its payload is no longer stored")
        if target.fault is not None:
            return Defer(target.fault, target.wait)
        form = target.form
        if form.write is not None and row.type not in form.types:
            return Failed(f"format {form.name} has no event {row.type}")
        body = written(form, row.payload, event_id=row.event_id, facts=row.facts)
        if body is None:
            return Done()  # another event of the email says the same
        now = asyncio.get_running_loop().time()
        return await call_endpoint(
            self._poster,
            target.url,
            event_id=row.event_id,
            body=body,
            keys=[key for key, until in target.keys if until > now],
            form=form,
            idempotency_key=idempotency_key_of(row),
            traceparent=traceparent_of(row),
        )

    async def settle(
        self,
        conn: Conn,
        spec: QueueSpec,
        outcomes: Sequence[tuple[ClaimedDelivery, Outcome]],
        works: Sequence[tuple[ClaimedDelivery, CallResult]],
    ) -> Settled[ClaimedDelivery]:
        ended = [*outcomes, *((row, outcome_of(row, result)) for row, result in works)]
        results = [*(None for _ in outcomes), *(result for _, result in works)]
        lost, blocked = await store.settle(conn, spec, ended, results)
        return Settled(ended, lost, {str(one): "the endpoint's circuit is open" for one in blocked})

    def is_answered(self, result: Outcome | CallResult) -> bool:
        return isinstance(result, CallResult) and result.outcome is CallOutcome.DELIVERED

    async def rest(self, call: Call) -> None:
        self._poster.rest()
        self._targets.forget_old()
        while await call(lambda conn: store.tidy(conn, limit=TIDY_ROWS)) >= TIDY_ROWS:
            pass

    async def close(self) -> None:
        self._poster.close()


def idempotency_key_of(row: ClaimedDelivery) -> str | None:
    """Return the idempotency key of a timed event, percent-encoded as a header; None for others."""
    if row.type != TIMED_EVENT or row.payload is None:
        return None
    match read_json(row.payload):
        case {"data": {"idempotency_key": str(key)}}:
            return quote(key, safe=" !#$&'()*+,/:;<=>?@[]^`{|}~")
        case _:
            return None


def traceparent_of(row: ClaimedDelivery) -> Callable[[datetime], str] | None:
    """Return what makes the trace context of a call from its time; None if its email has none.

    Where the call is exported as a span, the context names that span, else it is the email's own.
    """
    if row.payload is None or not _may_have_context(row):
        return None
    match read_json(row.payload):
        case {"data": {"custom_data": {"traceparent": str(text)}}}:
            context, email_id = parse_traceparent(text), email_of(row.payload)
        case _:
            return None
    if context is None:
        return None
    if not (row.is_traced and context.is_sampled) or email_id is None or row.type == TIMED_EVENT:
        return lambda _: text

    def named(at: datetime) -> str:
        span = call_span_id(email_id, row.id, at)
        return f"00-{context.trace_id}-{span}-01"

    return named


def _may_have_context(row: ClaimedDelivery) -> bool:
    """Return False for nearly every event; True may be of another text."""
    return row.payload is not None and '"traceparent"' in row.payload


def outcome_of(row: ClaimedDelivery, result: CallResult) -> Outcome:
    """Return the outcome of a delivery that was called."""
    values = {"last_code": result.code}
    error = result.error or ""
    match result.outcome:
        case CallOutcome.DELIVERED:
            return Done(values=values)
        case CallOutcome.GONE:
            return Failed(error, values=values)
        case CallOutcome.FAILED:
            wait = WAITS[min(max(row.attempts, 1), len(WAITS)) - 1]
            longer = wait * (1 + random.random() * 0.05)  # noqa: S311
            return Retry(error, max(longer, result.wait or longer), values=values)
