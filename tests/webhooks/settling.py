"""Claims and settles deliveries as a worker does, by the statements alone."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from mailqueue.core.queues.registry import queue_named
from mailqueue.db.fetch import Conn
from mailqueue.queue import store as queue_store
from mailqueue.webhooks.handler import WebhookHandler, outcome_of
from mailqueue.webhooks.model import CallOutcome, CallResult, ClaimedDelivery
from mailqueue.webhooks.store import deliveries as store
from tests import make

URL = "https://app.example.com/hooks"
SPEC = queue_named("webhooks")
NOW = datetime.now(UTC)
FAILED = CallResult(CallOutcome.FAILED, NOW, 1, {}, code=500, error="answered 500")


async def claim(
    conn: Conn, *, limit: int = 500, first: int = 500, room: Mapping[UUID, int] | None = None
) -> list[ClaimedDelivery]:
    number = await make.worker(conn)
    rooms = {str(key): count for key, count in (room or {}).items()}
    return await queue_store.claim(
        conn,
        SPEC,
        ClaimedDelivery,
        worker=number,
        limit=limit,
        first=first,
        rooms=rooms,
        loading=WebhookHandler.claims_by,
    )


async def settle(
    conn: Conn,
    claims: Sequence[ClaimedDelivery],
    outcome: CallOutcome,
    code: int | None = 500,
    **more: Any,
) -> list[UUID]:
    """Settle calls with one result; return the endpoints that are blocked afterwards."""
    error = None if outcome is CallOutcome.DELIVERED else f"answered {code}"
    result = CallResult(outcome, datetime.now(UTC), 1, {}, code=code, error=error)._replace(**more)
    return await settle_each(conn, [(one, result) for one in claims])


async def settle_each(conn: Conn, done: Sequence[tuple[ClaimedDelivery, CallResult]]) -> list[UUID]:
    ended = [(row, outcome_of(row, result)) for row, result in done]
    lost, blocked = await store.settle(conn, SPEC, ended, [result for _, result in done])
    assert not lost
    return blocked


async def key(conn: Conn, webhook_id: UUID, name: str) -> object:
    """Return a column of the endpoint's key in trouble; None where it has none."""
    query = f"SELECT {name} FROM mailqueue.queue_keys WHERE queue = 'webhooks' AND key = %s"
    rows = await make.rows(conn, query, str(webhook_id))
    return rows[0][0] if rows else None


async def column(conn: Conn, webhook_id: UUID, name: str) -> object:
    return await make.scalar(
        conn, f"SELECT {name} FROM mailqueue.webhooks WHERE id = %s", webhook_id
    )
