"""Mailgun's API: the events of a message, or of the messages to a recipient."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import quote, urlencode
from uuid import UUID

from pydantic import BeforeValidator, Field
from starlette.responses import Response

from mailqueue.api.compat import store as compat_store
from mailqueue.api.compat.mailgun import store as mailgun_store
from mailqueue.api.compat.mailgun.domains import check_domain
from mailqueue.api.compat.mailgun.store import EmailOfEvents, EventOfEmail, MailgunEventFilter
from mailqueue.api.compat.reading import query_of
from mailqueue.api.compat.store import OneRecipient
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.origin import origin_of
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.core.errors import InvalidField
from mailqueue.core.paging import cursor_of, key_of
from mailqueue.db.fetch import Conn
from mailqueue.mail.reads import emails as reads
from mailqueue.mail.reads.model import EmailQuery
from mailqueue.projects.model import Scope
from mailqueue.suppression.acceptable import address_of
from mailqueue.webhooks.formats.mailgun import TYPES, event_data_of
from mailqueue.webhooks.formats.model import FormattedEvent
from mailqueue.webhooks.model import EmailFacts, EventType

MAX_LISTED = 300
MAX_EMAILS = 1_000
"""The newest messages to a recipient whose events are looked at."""
_PREFIX = "email."
_NEXT, _PREVIOUS = "next", "previous"
_LATEST = (datetime(9999, 12, 31, tzinfo=UTC), UUID(int=2**128 - 1))
_EARLIEST = (datetime(1, 1, 1, tzinfo=UTC), UUID(int=0))
_NAMES = frozenset(TYPES.values())


def _instant(given: Any) -> Any:
    """Return a time that is given in seconds since 1970, or as RFC 2822 has it."""
    with suppress(ValueError, OverflowError, TypeError, OSError):
        return datetime.fromtimestamp(float(given), UTC)
    with suppress(ValueError, OverflowError, TypeError):
        at = parsedate_to_datetime(given)
        return at if at.tzinfo else at.replace(tzinfo=UTC)
    raise ValueError("must be seconds since 1970, or a time such as Thu, 13 Oct 2011 18:02:00 UTC")


EventTime = Annotated[datetime, BeforeValidator(_instant)]


class MailgunEventQuery(RequestModel):
    """The query of GET /v3/{domain}/events."""

    message_id: StorableText | None = Field(default=None, alias="message-id")
    recipient: StorableText | None = None
    event: StorableText | None = None
    begin: EventTime | None = None
    end: EventTime | None = None
    ascending: Literal["yes", "no", ""] = ""
    limit: int = Field(default=100, ge=1, le=MAX_LISTED)
    pretty: str = ""

    @property
    def is_ascending(self) -> bool:
        """Return the order: forwards if it is asked for, or if the time begins before it ends."""
        if self.ascending:
            return self.ascending == "yes"
        if self.begin is None:
            return False
        return self.end is None or self.begin < self.end


class EventPlace(NamedTuple):
    """The page of a list: the way from an event on, and that event; without it the first page."""

    direction: str = _NEXT
    at: datetime | None = None
    at_id: UUID | None = None


class ListedEvent(NamedTuple):
    """An event as Mailgun has it; None if another event says the same."""

    row: EventOfEmail
    shown: dict[str, Any] | None


async def index(call: RequestContext) -> Response:
    """List events, on the page that the path names or on the first."""
    await check_domain(call)
    query = query_of(call, MailgunEventQuery)
    here = place_of(call.path["page"]) if "page" in call.path else EventPlace()
    found = await read_events(call, query, here)
    items = [one.shown for one in found if one.shown is not None]
    events = [one.row for one in found]
    paging = _paging(call, events, here, is_ascending=query.is_ascending)
    return json_answer({"items": items, "paging": paging})


async def read_events(
    call: RequestContext, query: MailgunEventQuery, here: EventPlace
) -> list[ListedEvent]:
    """Return the events of a page in their order.

    Raises:
        InvalidField: neither a message nor a recipient is given, or a filter is invalid.
    """
    project_id = call.caller.project_id
    is_back = here.direction == _PREVIOUS
    addresses = None if query.recipient is None else _spellings(query.recipient)
    since, until = _between(query)
    async with call.connection() as conn:
        chosen = MailgunEventFilter(
            ids=await _ids(conn, project_id, query),
            types=_types(query.event),
            addresses=addresses,
            since=since,
            until=until,
            is_ascending=query.is_ascending != is_back,
            at=here.at,
            at_id=here.at_id,
            limit=query.limit,
        )
        found = await mailgun_store.list_events(conn, project_id, chosen)
        ids = list({one.email_id for one in found})
        emails = await mailgun_store.emails_of(conn, project_id, ids)
        recipients = await compat_store.list_recipients(conn, ids, project_id=project_id)
    first = None if query.message_id is None else _email_id(query.message_id)
    facts = {one.id: (one, _facts(one, recipients, first_id=first or one.id)) for one in emails}
    return [
        ListedEvent(one, event_data_of(_event(one, *facts.get(one.email_id, (None, None)))))
        for one in (found[::-1] if is_back else found)
    ]


def next_page(event: EventOfEmail) -> str:
    """Return the name of the page after an event. Pure."""
    return cursor_of(_NEXT, event.occurred_at, event.id)


def previous_page(event: EventOfEmail) -> str:
    """Return the name of the page before an event. Pure."""
    return cursor_of(_PREVIOUS, event.occurred_at, event.id)


def last_page(*, is_ascending: bool) -> str:
    """Return the name of the last page. Pure."""
    return cursor_of(_PREVIOUS, *(_LATEST if is_ascending else _EARLIEST))


def place_of(given: str, *, field: str = "page") -> EventPlace:
    """Return the page of a name.

    Raises:
        InvalidField: there is no such page; `field` is the parameter that names it.
    """
    try:
        return EventPlace(*key_of(given, str, datetime, UUID))
    except InvalidField as exc:
        raise exc.named(field) from None


def _between(query: MailgunEventQuery) -> tuple[datetime | None, datetime | None]:
    """Return the earliest and the latest time: a list begins at `begin`, in whatever order."""
    if query.begin is not None and query.end is not None:
        return min(query.begin, query.end), max(query.begin, query.end)
    return (query.begin, query.end) if query.is_ascending else (query.end, query.begin)


def _spellings(recipient: str) -> list[str]:
    try:
        return list(address_of(recipient).spellings)
    except InvalidField as exc:
        raise exc.named("recipient") from None


async def _ids(conn: Conn, project_id: UUID, query: MailgunEventQuery) -> list[UUID]:
    """Return the mails whose events are listed, newest first.

    Raises:
        InvalidField: neither a message nor a recipient is given.
    """
    if query.message_id is None and query.recipient is None:
        raise InvalidField("message-id", "or recipient is needed: events are those of messages")
    named = None if query.message_id is None else _email_id(query.message_id)
    if query.message_id is not None and named is None:
        return []
    wanted = EmailQuery(project_id=project_id, to=query.recipient, batch=named, limit=MAX_EMAILS)
    found = [one.id for one in await reads.list_page(conn, wanted)]
    if named is None or named in found:
        return found
    return [*found, named]


def _email_id(message_id: str) -> UUID | None:
    """Return the id of the mail that one of our Message-IDs names; None for another."""
    try:
        return UUID(message_id.strip("<> ").partition("@")[0])
    except ValueError:
        return None


def _types(names: str | None) -> list[str]:
    """Return the types of events that have one of Mailgun's names: `rejected OR failed`.

    Raises:
        InvalidField: there is no such name.
    """
    wanted = _NAMES if names is None else {one.strip() for one in names.split(" OR ")}
    for one in wanted - {*_NAMES, "rejected", "stored"}:
        raise InvalidField("event", f"there is no event {one[:50]!r}")
    return [kind.removeprefix(_PREFIX) for kind, name in TYPES.items() if name in wanted]


def _facts(one: EmailOfEvents, recipients: Sequence[OneRecipient], *, first_id: UUID) -> EmailFacts:
    boxes = [[each.kind, each.address, each.name] for each in recipients if each.email_id == one.id]
    return EmailFacts(
        id=one.id,
        first_id=first_id,
        created_at=one.created_at,
        from_email=one.from_email,
        from_name=one.from_name,
        subject=one.subject,
        headers=None,
        message_id=one.message_id,
        recipients=boxes or [["to", one.recipient_email, one.recipient_name]],
        is_bounced=one.is_bounced,
    )


def _event(
    one: EventOfEmail, email: EmailOfEvents | None, facts: EmailFacts | None
) -> FormattedEvent:
    """Return an event; of a mail that is no longer stored without what is known of the mail."""
    data = {
        **(one.data or {}),
        "email_id": one.email_id,
        "recipient": one.recipient_email,
        "reason": one.detail,
        "code": one.code,
    }
    if email is not None:
        data |= {
            "recipient": one.recipient_email or email.recipient_email,
            "tags": email.tags,
            "custom_data": email.custom_data,
            "category": email.category,
        }
    return FormattedEvent(one.id, EventType(_PREFIX + one.type), one.occurred_at, data, facts)


def _paging(
    call: RequestContext,
    events: Sequence[EventOfEmail],
    here: EventPlace,
    *,
    is_ascending: bool,
) -> dict[str, str]:
    origin = origin_of(call.request.scope, call.settings.tracking.public_url)
    base = f"{origin}/v3/{quote(call.path['domain'], safe='')}/events"
    given = urlencode(list(call.request.query_params.multi_items()))

    def url(direction: str, one: EventOfEmail | None) -> str:
        at, at_id = (here.at, here.at_id) if one is None else (one.occurred_at, one.id)
        if at is None:
            return f"{base}?{given}"
        return f"{base}/{cursor_of(direction, at, at_id)}?{given}"

    return {
        "first": f"{base}?{given}",
        "last": f"{base}/{last_page(is_ascending=is_ascending)}?{given}",
        "next": url(_NEXT, events[-1] if events else None),
        "previous": url(_PREVIOUS, events[0] if events else None),
    }


def _reading(path: str, summary: str) -> Endpoint:
    return Endpoint("GET", path, Scope.EMAIL_READ, summary, index, test_keys=ForTestKeys.OWN)


EVENT_ENDPOINTS = (
    _reading("/v3/{domain}/events", "List events of a message or a recipient."),
    _reading("/v3/{domain}/events/{page}", "List events on another page."),
)
