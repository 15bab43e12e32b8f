"""Event webhooks in the form of SendGrid's API: bodies, and its events as our types. Pure."""

from collections.abc import Collection, Mapping
from typing import Any

from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.core.errors import InvalidField
from mailqueue.webhooks.formats.values import stamp
from mailqueue.webhooks.model import EventType, WebhookRow

EVENTS: Mapping[str, tuple[EventType, ...]] = {
    "processed": (EventType.QUEUED,),
    "delivered": (EventType.DELIVERED,),
    "deferred": (EventType.DEFERRED,),
    "bounce": (EventType.SOFT_BOUNCE, EventType.HARD_BOUNCE),
    "dropped": (EventType.FAILED, EventType.EXPIRED, EventType.SUPPRESSED),
    "spam_report": (EventType.COMPLAINT,),
    "open": (EventType.OPENED,),
    "click": (EventType.CLICKED,),
    "unsubscribe": (EventType.UNSUBSCRIBED,),
    "group_unsubscribe": (EventType.UNSUBSCRIBED,),
    "group_resubscribe": (EventType.RESUBSCRIBED,),
}
"""Our event types of each event of SendGrid."""
_NAMES = {"description": "friendly_name", "event_types": "events"}


class EventSettings(StrictRequestModel):
    """The body of POST and PATCH /v3/user/webhooks/event/settings.

    What an answer has besides is taken and has no effect, so that an answer can be sent back.
    """

    id: StorableText | None = None
    public_key: StorableText | None = None
    created_date: StorableText | None = None
    updated_date: StorableText | None = None

    enabled: bool | None = None
    url: StorableText | None = None
    friendly_name: StorableText | None = None
    processed: bool | None = None
    delivered: bool | None = None
    deferred: bool | None = None
    bounce: bool | None = None
    dropped: bool | None = None
    spam_report: bool | None = None
    open: bool | None = None
    click: bool | None = None
    unsubscribe: bool | None = None
    group_unsubscribe: bool | None = None
    group_resubscribe: bool | None = None


class SignedSettings(StrictRequestModel):
    """The body of PATCH /v3/user/webhooks/event/settings/signed."""

    enabled: bool


class EventTest(StrictRequestModel):
    """The body of POST /v3/user/webhooks/event/test."""

    id: StorableText | None = None
    url: StorableText | None = None


def types_of(body: EventSettings, before: Collection[str] = ()) -> list[str]:
    """Return the event types that a body selects; those it leaves out stay as they were.

    Both kinds of unsubscribe are one type, which either of them selects.
    """
    chosen = {name: getattr(body, name) for name in EVENTS}
    off = {kind for name, kinds in EVENTS.items() if chosen[name] is False for kind in kinds}
    on = {kind for name, kinds in EVENTS.items() if chosen[name] for kind in kinds}
    kept = {kind for kind in EventType if kind.value in before and kind not in off}
    return sorted(kind.value for kind in kept | on)


def shown(one: WebhookRow | None) -> dict[str, Any]:
    """Return a webhook; None: that nothing is sent."""
    if one is None:
        return {"enabled": False, "url": "", **dict.fromkeys(EVENTS, False)}
    types = set(one.event_types)
    return {
        "id": one.id,
        "enabled": one.is_enabled,
        "url": one.url,
        "friendly_name": one.description or "",
        **{name: not types.isdisjoint(kinds) for name, kinds in EVENTS.items()},
        "public_key": one.public_key,
        "created_date": stamp(one.created_at),
        "updated_date": stamp(one.updated_at),
    }


def named(exc: InvalidField) -> InvalidField:
    """Return an error with SendGrid's name of its field."""
    return exc.named(_NAMES.get(exc.field, exc.field))
