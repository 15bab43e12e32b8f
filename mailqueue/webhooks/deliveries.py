"""The delivery log of a webhook: list deliveries, show one, and retry them."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.core.json.writing import write_json
from mailqueue.db.fetch import Conn
from mailqueue.webhooks import endpoints
from mailqueue.webhooks.formats.registry import format_named, written
from mailqueue.webhooks.model import (
    ENDED,
    DeliveryFilter,
    DeliveryLog,
    DeliveryOfEmail,
    DeliveryRow,
    DeliveryStatus,
    EventType,
    WebhookRow,
)
from mailqueue.webhooks.store import deliveries as store

MAX_PAGE_ROWS = 1000
MAX_RETRIED = 10_000
EVERYTHING = DeliveryFilter()
NOT_DELIVERED = (DeliveryStatus.FAILED, DeliveryStatus.CANCELLED)


async def list_page(
    conn: Conn,
    project_id: UUID,
    webhook_id: UUID,
    *,
    filters: DeliveryFilter = EVERYTHING,
    before: UUID | None = None,
    limit: int = 100,
) -> list[DeliveryRow]:
    """Return a page of the log, the newest first; `before` is the last id of the previous page.

    Raises:
        NotFound: the project has no such webhook.
        InvalidField: the limit, the status or the type is invalid.
    """
    if not 1 <= limit <= MAX_PAGE_ROWS:
        raise InvalidField("limit", f"must be 1 to {MAX_PAGE_ROWS}, got {limit}")
    if filters.status is not None and filters.status not in set(DeliveryStatus):
        raise InvalidField("status", f"must be one of {', '.join(DeliveryStatus)}")
    await endpoints.find(conn, project_id, webhook_id)
    return await store.list_page(
        conn, project_id, webhook_id, filters=filters, before=before, limit=limit
    )


async def list_of_email(conn: Conn, project_id: UUID, email_id: UUID) -> list[DeliveryOfEmail]:
    """Return the deliveries of the newest 20 events of an email to all webhooks, oldest first."""
    return await store.list_of_email(conn, project_id, email_id)


async def show(conn: Conn, project_id: UUID, webhook_id: UUID, delivery_id: UUID) -> DeliveryLog:
    """Return one delivery with its payload and every attempt.

    Raises:
        NotFound: the webhook has no such delivery.
    """
    delivery = await find(conn, project_id, webhook_id, delivery_id)
    return DeliveryLog(
        delivery,
        await store.payload_of(conn, project_id, delivery.event_id),
        await store.list_attempts(conn, project_id, delivery_id),
    )


async def retry(
    conn: Conn, project_id: UUID, webhook_id: UUID, delivery_id: UUID, *, by: str
) -> DeliveryRow:
    """Retry one delivery that has ended, whatever its outcome.

    Raises:
        NotFound: the webhook has no such delivery.
        Conflict: it has not ended, its payload is gone, or the webhook is disabled.
    """
    webhook = await endpoints.find(conn, project_id, webhook_id)
    delivery = await find(conn, project_id, webhook_id, delivery_id)
    if not webhook.is_enabled:
        raise Conflict("the webhook is disabled: enable it first")
    if delivery.status not in ENDED:
        raise Conflict(f"the delivery is {delivery.status}: it has not ended")
    count = await store.retry(
        conn,
        project_id,
        webhook_id,
        ids=[delivery_id],
        statuses=ENDED,
        types=None,
        since=None,
        until=None,
        limit=1,
        by=by,
    )
    if count == 0:
        raise Conflict("its payload is no longer stored")
    return await find(conn, project_id, webhook_id, delivery_id)


async def retry_many(
    conn: Conn,
    project_id: UUID,
    webhook_id: UUID,
    *,
    since: datetime | None,
    until: datetime | None,
    statuses: Sequence[str] = NOT_DELIVERED,
    types: Sequence[str] | None = None,
    limit: int = MAX_RETRIED,
    is_dry: bool = False,
    by: str,
) -> int:
    """Retry the deliveries of a time range with these statuses; return their number.

    With `is_dry` they are only counted.

    Raises:
        NotFound: the project has no such webhook.
        Conflict: it is disabled.
        InvalidField: a status, a type or the range is invalid.
    """
    for status in statuses:
        if status not in set(ENDED):
            raise InvalidField("statuses", f"must be among {', '.join(ENDED)}, got {status[:50]!r}")
    known = {*EventType}
    for one in types or ():
        if one not in known:
            raise InvalidField("types", f"there is no type {one[:100]!r}")
    if since is not None and until is not None and until <= since:
        raise InvalidField("until", "must be after since")
    if not 1 <= limit <= MAX_RETRIED:
        raise InvalidField("limit", f"must be 1 to {MAX_RETRIED}, got {limit}")
    if not (await endpoints.find(conn, project_id, webhook_id)).is_enabled:
        raise Conflict("the webhook is disabled: enable it first")
    if is_dry:
        return await store.count_retries(
            conn,
            project_id,
            webhook_id,
            statuses=statuses,
            types=types or None,
            since=since,
            until=until,
            limit=limit,
        )
    return await store.retry(
        conn,
        project_id,
        webhook_id,
        ids=None,
        statuses=statuses,
        types=types or None,
        since=since,
        until=until,
        limit=limit,
        by=by,
    )


async def find(conn: Conn, project_id: UUID, webhook_id: UUID, delivery_id: UUID) -> DeliveryRow:
    """Return one delivery.

    Raises:
        NotFound: the webhook has no such delivery.
    """
    found = await store.list_page(
        conn, project_id, webhook_id, filters=EVERYTHING, delivery_id=delivery_id, limit=1
    )
    if not found:
        raise NotFound("delivery", delivery_id)
    return found[0]


async def body_of(conn: Conn, webhook: WebhookRow, delivery: DeliveryRow) -> bytes | None:
    """Return the body that a delivery sends in the format of its webhook.

    None: it is no longer stored, or the format has none for such an event.
    """
    payload = await store.payload_of(conn, webhook.project_id, delivery.event_id)
    form = format_named(webhook.format)
    if payload is None or (form.write is not None and delivery.type not in form.types):
        return None
    facts = None
    if delivery.email_id is not None:
        facts = await store.email_of(conn, webhook.project_id, delivery.email_id)
    text = write_json(payload).decode()
    return written(form, text, event_id=delivery.event_id, facts=facts)
