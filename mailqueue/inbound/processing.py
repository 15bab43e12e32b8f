"""Read the events of a provider's request, and decide its next state. Pure.

Events whose mail is not known yet are retried alone, at growing intervals, for three days.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from mailqueue.core.outcome import Defer, Done, Outcome
from mailqueue.events.model import RecordResult, ReportedEvent, Suppress, Type
from mailqueue.inbound.model import ClaimedRequest
from mailqueue.ports.inbound import BadEvent, ProviderEvent

MIN_UNMATCHED_WAIT, MAX_UNMATCHED_WAIT = timedelta(seconds=2), timedelta(hours=1)
"""Bounds of the wait before events of unknown mail are retried: their age, within these."""
MAX_NAMED = 20
"""Unknown kinds of event, and unreadable events, that an outcome names."""
_TYPES = frozenset(Type)
_REASONS = frozenset(Suppress)


@dataclass(frozen=True, slots=True)
class PendingEvents:
    """The events of a request that are to be recorded, each with its position, and the others."""

    claim: ClaimedRequest
    events: Sequence[tuple[int, ReportedEvent]]
    unknown: Sequence[str]  # kinds of event, as the provider calls them
    bad: Sequence[str]
    size: int  # of a commit's room: events to be recorded


def pending_events(
    claim: ClaimedRequest, source: str, found: Sequence[ProviderEvent | BadEvent]
) -> PendingEvents:
    """Return what is still to be recorded of the events that were found in a request."""
    wanted = range(len(found)) if claim.waiting is None else claim.waiting
    events, unknown, bad = list[tuple[int, ReportedEvent]](), list[str](), list[str]()
    for place in wanted:
        one = (
            found[place]
            if isinstance(place, int) and 0 <= place < len(found)
            else BadEvent("the event is no longer in the request")
        )
        if isinstance(one, BadEvent):
            bad.append(one.why)
        elif one.type is None or one.type not in _TYPES:
            unknown.append(one.kind)
        else:
            event = ReportedEvent(
                source=one.source or source,
                type=Type(one.type),
                account=claim.sender_account_id,
                event_id=one.event_id,
                email_id=one.email_id,
                provider_message_id=one.provider_message_id,
                message_id=one.message_id,
                recipient=one.recipient,
                occurred_at=one.occurred_at,
                code=one.code,
                detail=one.detail,
                suppress=Suppress(one.suppress) if one.suppress in _REASONS else None,
                data=one.data,
            )
            events.append((place, event))
    return PendingEvents(claim, events, unknown, bad, size=max(1, len(events)))


def is_bypassing(claim: ClaimedRequest) -> bool:
    """Return whether bounce mail is read in spite of the rules of its project."""
    return isinstance(claim.outcome, dict) and claim.outcome.get("bypassed") is True


def outcome_of(reading: PendingEvents, results: Sequence[RecordResult]) -> Outcome:
    """Return the outcome of a request whose events were recorded with these results."""
    claim = reading.claim
    # What an earlier attempt left, which may have another shape.
    before = claim.outcome if isinstance(claim.outcome, dict) else {}
    counted = before.get("events")
    counts = Counter[str]()
    for kind, count in counted.items() if isinstance(counted, dict) else ():
        if isinstance(count, int):
            counts[kind] = count
    counts.update(one.value for one in results if one is not RecordResult.UNMATCHED)
    waiting = [
        place
        for (place, _), result in zip(reading.events, results, strict=True)
        if result is RecordResult.UNMATCHED
    ]
    outcome: dict[str, Any] = {"events": dict(counts)}
    if before.get("bypassed") is True:
        outcome["bypassed"] = True
    for name, texts in (("unknown", reading.unknown), ("bad", reading.bad)):
        cut = (text[:200].replace("\0", "") for text in texts)
        earlier = before.get(name)
        named_before = earlier if isinstance(earlier, list) else []
        if named := sorted({*(one for one in named_before if isinstance(one, str)), *cut}):
            outcome[name] = named[:MAX_NAMED]
    if not waiting:
        return Done(values={"waiting": [], "outcome": outcome, "confirm_url": None})
    outcome["unmatched"] = len(waiting)
    values = {"waiting": waiting, "outcome": outcome}
    why = f"there is no mail for {len(waiting)} of its events"
    if claim.is_over:
        return Done("unmatched", reason=why, values=values)
    wait = min(max(claim.age, MIN_UNMATCHED_WAIT), MAX_UNMATCHED_WAIT)
    return Defer(why, wait, values=values)
