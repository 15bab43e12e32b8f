"""Decides what becomes of a request of a provider: what it tells, and when it is done. Pure.

Events of which there is no mail yet are offered again, those only, ever later, for three days.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from mailqueue.events.model import Event, Result, Suppress, Type
from mailqueue.inbound.model import Claimed, Settled, State
from mailqueue.ports.inbound import BadEvent, InboundRequest, Provider, ProviderEvent

SOONEST, LATEST = timedelta(seconds=2), timedelta(hours=1)
"""The wait before events of unknown mail are offered again: as old as they are, within these."""
FIRST_AGAIN, LONGEST_AGAIN = timedelta(seconds=30), timedelta(hours=1)
MOST_NAMED = 20
_WORDS = frozenset(Type)
_REASONS = frozenset(Suppress)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a request tells: events with their places in it, and what is not acted on."""

    claim: Claimed
    events: Sequence[tuple[int, Event]]
    unknown: Sequence[str]  # words of the provider
    bad: Sequence[str]


def read(claim: Claimed, provider: Provider) -> Reading:
    """Read a request, or what is left of it."""
    return reading_of(claim, provider.name, provider.events(request_of(claim)))


def request_of(claim: Claimed) -> InboundRequest:
    """Return a request as it came."""
    return InboundRequest("POST", claim.headers, claim.query, claim.body or b"")


def reading_of(claim: Claimed, source: str, told: Sequence[ProviderEvent | BadEvent]) -> Reading:
    """Return what is still to be done of what a request tells."""
    wanted = range(len(told)) if claim.waiting is None else claim.waiting
    events, unknown, bad = list[tuple[int, Event]](), list[str](), list[str]()
    for place in wanted:
        one = told[place] if place < len(told) else BadEvent("it is not there any more")
        if isinstance(one, BadEvent):
            bad.append(one.why)
        elif one.type is None or one.type not in _WORDS:
            unknown.append(one.kind)
        else:
            events.append((place, _event(claim, one.source or source, one)))
    return Reading(claim, events, unknown, bad)


def _event(claim: Claimed, source: str, one: ProviderEvent) -> Event:
    return Event(
        source=source,
        type=Type(str(one.type)),
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


def settled(reading: Reading, results: Sequence[Result]) -> Settled:
    """Return what becomes of a request whose events became this."""
    claim = reading.claim
    counts = Counter(claim.outcome.get("events", {}))
    counts.update(one.value for one in results if one is not Result.UNMATCHED)
    waiting = [
        place
        for (place, _), result in zip(reading.events, results, strict=True)
        if result is Result.UNMATCHED
    ]
    outcome = _outcome(claim.outcome, counts, reading)
    if not waiting:
        return Settled(claim.id, claim.claim_no, State.PROCESSED, waiting=(), outcome=outcome)
    outcome["unmatched"] = len(waiting)
    why = f"there is no mail for {len(waiting)} of its events"
    if claim.is_over:
        return Settled(
            claim.id, claim.claim_no, State.UNMATCHED, waiting=waiting, outcome=outcome, error=why
        )
    return Settled(
        claim.id,
        claim.claim_no,
        State.WAITING,
        wait=min(max(claim.age, SOONEST), LATEST),
        waiting=waiting,
        outcome=outcome,
        error=why,
    )


def _outcome(before: Mapping[str, Any], counts: Counter[str], reading: Reading) -> dict[str, Any]:
    outcome: dict[str, Any] = {"events": dict(counts)}
    for name, found in (("unknown", reading.unknown), ("bad", reading.bad)):
        named = sorted({*before.get(name, ()), *(one[:200].replace("\0", "") for one in found)})
        if named:
            outcome[name] = named[:MOST_NAMED]
    return outcome


def failing(claim: Claimed, why: str) -> Settled:
    """Say that something went wrong: tried again for a while, then it is failed."""
    wait = min(FIRST_AGAIN * 2 ** min(max(claim.attempts - 1, 0), 10), LONGEST_AGAIN)
    return Settled(claim.id, claim.claim_no, State.AGAIN, wait=wait, error=why)
