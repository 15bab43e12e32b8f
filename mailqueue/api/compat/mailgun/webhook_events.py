"""Webhooks in the form of Mailgun's API: its events, and what has to change. Pure."""

from collections.abc import Mapping, Sequence

from mailqueue.core.errors import InvalidField
from mailqueue.webhooks.model import EventType, WebhookRow

MAX_URLS = 3
"""Most URLs of one event, as at Mailgun."""
EVENTS: Mapping[str, frozenset[str]] = {
    "accepted": frozenset({EventType.QUEUED.value}),
    "delivered": frozenset({EventType.DELIVERED.value}),
    "opened": frozenset({EventType.OPENED.value}),
    "clicked": frozenset({EventType.CLICKED.value}),
    "unsubscribed": frozenset({EventType.UNSUBSCRIBED.value}),
    "complained": frozenset({EventType.COMPLAINT.value}),
    "temporary_fail": frozenset({EventType.DEFERRED.value}),
    "permanent_fail": frozenset(
        {
            EventType.HARD_BOUNCE.value,
            EventType.SOFT_BOUNCE.value,
            EventType.FAILED.value,
            EventType.EXPIRED.value,
            EventType.SUPPRESSED.value,
        }
    ),
}
"""Our event types of each event of Mailgun."""
TypesByUrl = Mapping[str, set[str]]
"""Event types by URL."""


def event_named(name: str, *, field: str = "webhook_name") -> str:
    """Return the name of an event.

    Raises:
        InvalidField: there is no such event.
    """
    if name not in EVENTS:
        raise InvalidField(field, f"{name[:100]!r} is not one of {', '.join(EVENTS)}")
    return name


def urls_by_event(webhooks: Sequence[WebhookRow]) -> dict[str, list[str]]:
    """Return the URLs of each event that has some, in the order they were added."""
    found: dict[str, list[str]] = {}
    for event, types in EVENTS.items():
        urls = [one.url for one in webhooks if not types.isdisjoint(one.event_types)]
        if urls:
            found[event] = list(dict.fromkeys(urls))
    return found


def types_by_url(webhooks: Sequence[WebhookRow]) -> dict[str, set[str]]:
    """Return the event types of each URL, of all its webhooks together."""
    found: dict[str, set[str]] = {}
    for one in webhooks:
        found.setdefault(one.url, set()).update(one.event_types)
    return found


def changes_of(
    known: Sequence[WebhookRow], wanted: TypesByUrl
) -> tuple[list[tuple[str, list[str]]], list[tuple[WebhookRow, list[str]]], list[WebhookRow]]:
    """Return what to add, to change and to remove, so that each URL has the wanted types.

    Of several webhooks of one URL, each keeps what it has of the wanted types; the first gets those
    that none of them has.
    """
    had = types_by_url(known)
    added = [(url, sorted(types)) for url, types in wanted.items() if types and url not in had]
    changed, removed = [], []
    missing = {url: types - had.get(url, set()) for url, types in wanted.items()}
    for one in known:
        types = wanted.get(one.url, set()) & {*one.event_types} | missing.pop(one.url, set())
        if not types:
            removed.append(one)
        elif types != {*one.event_types}:
            changed.append((one, sorted(types)))
    return added, changed, removed
