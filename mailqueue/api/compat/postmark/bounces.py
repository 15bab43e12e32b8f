"""Postmark's API: bounces and complaints, and how many addresses they made inactive."""

from typing import Any, Literal
from uuid import UUID

from pydantic import Field
from starlette.responses import Response

from mailqueue.api.compat.model import suppression_endpoint
from mailqueue.api.compat.postmark import store as postmark_store
from mailqueue.api.compat.postmark.faults import NoBounce, NotActivated
from mailqueue.api.compat.postmark.received import store as received_store
from mailqueue.api.compat.postmark.store import BounceFilter, BounceRow
from mailqueue.api.compat.postmark.times import QueryTime, last_of
from mailqueue.api.compat.reading import query_of
from mailqueue.api.compat.suppressed.lists import find_address, remove_address
from mailqueue.api.compat.suppressed.model import (
    ALL_EMAIL,
    BOUNCED,
    COMPLAINED,
    EVERY_REASON,
    SuppressedList,
)
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.projects.model import Scope
from mailqueue.webhooks.formats.postmark import BOUNCES, SERVER_ID, STREAMS
from mailqueue.webhooks.formats.values import number_of, stamp
from mailqueue.webhooks.model import EventType

MAX_LISTED = 500
MAX_REACHED = 10_000
"""Postmark's limit of `count` and `offset` together."""
MAX_TAGS = 10_000
"""Tags that a list has at most."""
MAX_NUMBER = 2**53 - 1
_EVENT = "email."
_TYPES = (EventType.HARD_BOUNCE, EventType.SOFT_BOUNCE, EventType.COMPLAINT)
_TYPE_BY_NAME = {BOUNCES[one][0]: one.removeprefix(_EVENT) for one in _TYPES}
_EVERY_TYPE = tuple(_TYPE_BY_NAME.values())
INACTIVE = SuppressedList((*BOUNCED, *COMPLAINED), (ALL_EMAIL,))
_BOUNCED = SuppressedList(BOUNCED, (ALL_EMAIL,))


class BounceQuery(RequestModel):
    """The query of GET /bounces."""

    count: int = Field(default=MAX_LISTED, ge=0, le=MAX_LISTED)
    offset: int = Field(default=0, ge=0, le=MAX_REACHED)
    type: Literal["HardBounce", "SoftBounce", "SpamComplaint"] | None = None
    emailfilter: StorableText | None = None
    tag: StorableText | None = None
    messageid: UUID | None = None
    fromdate: QueryTime | None = None
    todate: QueryTime | None = None


async def index(call: RequestContext) -> Response:
    """List bounces, newest first."""
    query = query_of(call, BounceQuery)
    chosen = BounceFilter(
        types=_EVERY_TYPE if query.type is None else (_TYPE_BY_NAME[query.type],),
        email_id=query.messageid,
        address=query.emailfilter,
        tag=query.tag,
        since=None if query.fromdate is None else query.fromdate.at,
        until=None if query.todate is None else last_of(query.todate),
    )
    project_id = call.caller.project_id
    async with call.connection() as conn:
        found = await postmark_store.list_bounces(
            conn,
            project_id,
            chosen,
            inactive=INACTIVE,
            limit=query.count,
            offset=query.offset,
        )
        counts = await postmark_store.count_bounces(conn, project_id, chosen)
    bounces = [_shown(one) for one in found]
    return json_answer({"TotalCount": sum(counts.values()), "Bounces": bounces})


async def tags(call: RequestContext) -> Response:
    """List the tags of messages that bounced or were complained about."""
    async with call.connection() as conn:
        return json_answer(
            await postmark_store.list_bounced_tags(conn, call.caller.project_id, limit=MAX_TAGS)
        )


async def show(call: RequestContext) -> Response:
    """Show one bounce."""
    return json_answer(_shown(await _found(call)))


async def dump(call: RequestContext) -> Response:
    """Return the mail that reported a bounce, or what was said at the attempt that was refused."""
    one = await _found(call)
    async with call.connection() as conn:
        found = await received_store.find_dump(
            conn, call.caller.project_id, one.id, one.occurred_at
        )
    return json_answer({"Body": "" if found is None else found.text()})


async def activate(call: RequestContext) -> Response:
    """Send to the address of a bounce again."""
    one = await _found(call)
    if one.type == "complaint":
        raise NotActivated
    address = await find_address(call, _BOUNCED, one.recipient_email or "")
    if address is not None:
        await remove_address(call, address, provider="postmark")
    return json_answer({"Message": "OK", "Bounce": _shown(await _found(call))})


async def statistics(call: RequestContext) -> Response:
    """Return the number of inactive addresses, and of bounces by their type."""
    project_id = call.caller.project_id
    async with call.connection() as conn:
        counts = await postmark_store.count_bounces(
            conn, project_id, BounceFilter(types=_EVERY_TYPE)
        )
        inactive = await postmark_store.count_suppressed(
            conn, project_id, SuppressedList(EVERY_REASON, (ALL_EMAIL,))
        )
    bounces: list[dict[str, Any]] = [{"Name": "All", "Count": sum(counts.values())}]
    for one in _TYPES:
        kind, _, name, _ = BOUNCES[one]
        if count := counts.get(one.removeprefix(_EVENT)):
            bounces.append({"Type": kind, "Name": name, "Count": count})
    return json_answer({"InactiveMails": inactive, "Bounces": bounces})


async def _found(call: RequestContext) -> BounceRow:
    """Return the bounce of the path.

    Raises:
        NoBounce: the project has no such bounce.
    """
    given = call.path["bounce_id"]
    if not (given.isascii() and given.isdigit() and len(given) <= 16):
        raise NoBounce
    async with call.connection() as conn:
        found = await postmark_store.list_bounces(
            conn,
            call.caller.project_id,
            BounceFilter(types=_EVERY_TYPE),
            inactive=INACTIVE,
            limit=1,
            number=int(given),
        )
    if not found:
        raise NoBounce
    return found[0]


def _shown(one: BounceRow) -> dict[str, Any]:
    kind, code, name, description = BOUNCES[EventType(_EVENT + one.type)]
    category = one.category or "transactional"
    return {
        "RecordType": "Bounce",
        "ID": number_of(one.id),
        "Type": kind,
        "TypeCode": code,
        "Name": name,
        "Tag": one.tags[0] if one.tags else "",
        "MessageID": one.email_id,
        "ServerID": SERVER_ID,
        "MessageStream": STREAMS.get(category, category),
        "Description": description,
        "Details": one.detail or "",
        "Email": one.recipient_email,
        "From": one.from_email or "",
        "BouncedAt": stamp(one.occurred_at),
        "DumpAvailable": one.has_dump,
        "Inactive": one.is_inactive,
        "CanActivate": one.is_inactive and one.type != "complaint",
        "Subject": one.subject or "",
    }


def _reading(path: str, summary: str, handler: Any) -> Endpoint:
    return Endpoint("GET", path, Scope.EMAIL_READ, summary, handler, test_keys=ForTestKeys.OWN)


BOUNCE_ENDPOINTS = (
    _reading("/bounces", "List bounces and complaints.", index),
    _reading("/bounces/tags", "List the tags of bounced messages.", tags),
    _reading("/bounces/{bounce_id}", "Show a bounce.", show),
    _reading("/bounces/{bounce_id}/dump", "Show the source of a bounce.", dump),
    suppression_endpoint(
        "PUT", "/bounces/{bounce_id}/activate", "Send to a bounced address again.", activate
    ),
    _reading("/deliverystats", "Count bounces and inactive addresses.", statistics),
)
