"""Resend's API: what became of the mail of a broadcast, by recipient and by link.

Follows resend.com/docs/api-reference/broadcasts and the types of its Python client. Opens and
clicks are those by people. The id of a row is a cursor: of a recipient, that of the mail.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar
from uuid import UUID

from pydantic import Field
from starlette.responses import Response

from mailqueue.analytics import spans
from mailqueue.api.compat.broadcasts import store
from mailqueue.api.compat.broadcasts.outcomes import ClickedLink
from mailqueue.api.compat.resend.pages import (
    DEFAULT_LIMIT,
    ListPage,
    list_answer,
    page_of,
    page_query,
)
from mailqueue.api.compat.seen_tags import LONGEST_READING
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn, many
from mailqueue.db.sql import ManyRows
from mailqueue.db.statements import broadcasts as sql

MAX_LINKS = 1_000
Row = TypeVar("Row")
_EVENTS: Mapping[str, tuple[str, ...]] = {
    "sent": (),
    "suppressed": (),
    "delivered": ("delivered",),
    "opened": ("opened",),
    "clicked": ("clicked",),
    "bounced": ("hard_bounce", "soft_bounce"),
    "complained": ("complaint",),
    "unsubscribed": ("unsubscribed",),
}
"""Our types of events by Resend's; `sent` and `suppressed` are states of the mail."""
_Kind = Literal[
    "sent",
    "suppressed",
    "delivered",
    "opened",
    "clicked",
    "bounced",
    "complained",
    "unsubscribed",
]


class BroadcastOutcomes(ListPage):
    """The query of GET /broadcasts/{broadcast_id}/recipients."""

    type: _Kind
    email: Annotated[StorableText, Field(min_length=1, max_length=320)] | None = None
    bounce_type: Literal["permanent", "transient", "undetermined"] | None = None


@dataclass(frozen=True, slots=True)
class ReachedContact:
    """A contact whose mail something happened to; `contact_id` is None where it was removed."""

    id: UUID
    contact_id: UUID | None
    email: str
    times: int
    is_permanent: bool
    links: list[dict[str, Any]] | None


async def recipients(call: RequestContext) -> Response:
    """List the recipients to whose mail something happened."""
    query = page_query(call, BroadcastOutcomes)
    if query.bounce_type is not None and query.type != "bounced":
        raise InvalidField("bounce_type", "is only valid when `type` is `bounced`")
    limit = query.limit or DEFAULT_LIMIT
    more: dict[str, Any] = {
        "type": query.type,
        "events": list(_EVENTS[query.type]),
        "is_permanent": None if query.bounce_type is None else query.bounce_type == "permanent",
        "email": query.email,
        "after": query.after,
        "before": query.before,
        "limit": limit + 1,
    }
    found: Sequence[ReachedContact] = await _read(
        call, sql.LIST_BROADCAST_RECIPIENTS, more, ReachedContact
    )
    if query.bounce_type == "undetermined":
        found = ()  # each bounce is one or the other here
    page = found[:limit] if query.before is None else found[:limit][::-1]
    return list_answer([_shown(query.type, one) for one in page], len(found) > limit)


async def links(call: RequestContext) -> Response:
    """List the links that were clicked, those with most clicks first."""
    query = page_query(call, ListPage)
    found = await _read(call, sql.LIST_BROADCAST_LINKS, {"limit": MAX_LINKS}, ClickedLink)
    if query.limit is None and query.after is None and query.before is None:
        return list_answer(found, has_more=False)  # without a limit there are no pages
    page, has_more = page_of(found, query, lambda one: one.id)
    return list_answer(page, has_more)


async def _read(
    call: RequestContext, statement: ManyRows, more: Mapping[str, Any], row: type[Row]
) -> list[Row]:
    """Return rows of the broadcast of the path.

    Raises:
        NotFound: the project has none of the id.
        InvalidField: it has too many recipients to read them in time (`type`).
    """
    broadcast_id, project_id = call.id("broadcast_id"), call.caller.project_id
    asked = {"id": broadcast_id, "project_id": project_id, **more}
    async with call.reports() as conn:
        await _check(conn, project_id, broadcast_id)
        try:
            async with conn.transaction(), spans.reading(conn, LONGEST_READING):
                return await many(conn, statement, asked, row)
        except InvalidField:
            raise InvalidField("type", "there are too many recipients to read them") from None


async def _check(conn: Conn, project_id: UUID, broadcast_id: UUID) -> None:
    if await store.find(conn, project_id, broadcast_id) is None:
        raise NotFound("broadcast", broadcast_id)


def _shown(kind: str, one: ReachedContact) -> dict[str, Any]:
    document: dict[str, Any] = {"id": one.id, "contact_id": one.contact_id, "email": one.email}
    if kind in ("opened", "clicked"):
        document["count"] = one.times
    if kind == "bounced":
        document["bounce_type"] = "permanent" if one.is_permanent else "transient"
    if kind == "clicked":
        document["clicked_links"] = one.links or []
    return document
