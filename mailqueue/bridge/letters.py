"""Dead letters: keep, list, show, replay."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any
from uuid import UUID

from mailqueue.bridge import store
from mailqueue.bridge.envelope import UnreadableMessage, read_event
from mailqueue.bridge.handling import outcome_of
from mailqueue.bridge.model import (
    ConsumedEvent,
    Dead,
    HeldBack,
    IncomingEvent,
    LetterFilter,
    MessageOutcome,
    QueueBinding,
    consumer_of,
)
from mailqueue.bridge.store import PickedLetter
from mailqueue.contract.automation.bridge import (
    BrokerQueueState,
    DeadLetter,
    DeadLetterDetail,
    LetterReplay,
)
from mailqueue.contract.page import Page
from mailqueue.core.errors import NotFound, ProjectFull
from mailqueue.core.json.writing import write_json
from mailqueue.core.paging import cursor_of
from mailqueue.db.fetch import Conn
from mailqueue.ports.broker import BrokerMessage

MAX_BODY_BYTES = 1024 * 1024
"""Bytes of a body that is kept."""
REPLAY_LETTERS = 200
"""Maximum number of dead letters that one call replays, in one transaction."""


async def queues(conn: Conn, project_id: UUID | None) -> list[BrokerQueueState]:
    """Return the queues of one project, or of all, by name."""
    return await store.list_queues(conn, project_id)


async def keep(conn: Conn, binding: QueueBinding, message: BrokerMessage, dead: Dead) -> UUID:
    """Keep a message that did not become an event; a second delivery is the same row."""
    properties = {
        "message_id": message.message_id,
        "type": message.type,
        "correlation_id": message.correlation_id,
    }
    given = {name: value for name, value in properties.items() if value is not None}
    headers = {
        "properties": given,
        "headers": {n: v for n, v in message.headers.items() if not n.startswith("x-")},
    }
    digest = hashlib.sha256(write_json(headers) + b"\n" + message.body).digest()
    is_kept = len(message.body) <= MAX_BODY_BYTES
    body = message.body.decode(errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
    event = dead.event or _readable(message)
    values = {
        "project": binding.project,
        "queue": binding.queue,
        "digest": digest,
        "message_id": None if event is None else event.message_id,
        "type": None if event is None else _storable(event.type),
        "content_type": _storable(message.content_type),
        "headers": _storable_json(headers),
        "body": body if is_kept else None,
        "reason": _storable(dead.reason),
        "deliveries": message.deliveries,
    }
    return await store.keep_letter(conn, values)


async def list_page(
    conn: Conn,
    project_id: UUID,
    *,
    filters: LetterFilter,
    status: str | None,
    before: UUID | None,
    limit: int,
) -> Page[DeadLetter]:
    """Return a page of dead letters, newest first."""
    found = await store.list_letters(
        conn, project_id, filters=filters, status=status, before=before, limit=limit + 1
    )
    names = [field.name for field in fields(DeadLetter)]
    shown = [DeadLetter(**{name: getattr(one, name) for name in names}) for one in found[:limit]]
    return Page(shown, cursor_of(str(shown[-1].id)) if len(found) > limit else None)


async def show(conn: Conn, project_id: UUID, letter_id: UUID) -> DeadLetterDetail:
    """Return a dead letter with its content.

    Raises:
        NotFound: the project has no such dead letter.
    """
    found = await store.list_letters(
        conn,
        project_id,
        letter_id=letter_id,
        filters=LetterFilter(),
        status=None,
        before=None,
        limit=1,
    )
    if not found:
        raise NotFound("dead letter", letter_id)
    return found[0]


async def replay(
    conn: Conn,
    project_id: UUID,
    project: str,
    *,
    ids: Sequence[UUID] | None = None,
    filters: LetterFilter,
    after: UUID | None = None,
    limit: int = REPLAY_LETTERS,
    is_dry: bool,
    by: str,
) -> LetterReplay:
    """Read dead letters again and apply today's rules to one page of them, oldest first.

    A message that is an event already is not handled again. A dry run counts and keeps nothing.

    Raises:
        InvalidField: neither ids nor a filter are given.
        ProjectFull: the project is at a bound.
    """
    async with conn.transaction(force_rollback=is_dry):
        picked = await store.pick_letters(
            conn, project_id, ids=ids, filters=filters, after=after, limit=limit
        )
        outcomes = await _handle(conn, project, picked)
        counts = _counts(outcomes)
        if picked:
            done = [(one.id, _reason(o)) for one, o in zip(picked, outcomes, strict=True)]
            given = {name: value for name, value in asdict(filters).items() if value is not None}
            detail = {**{name: str(value) for name, value in given.items()}, **counts}
            await store.settle_letters(conn, project_id, done, detail=detail, by=by)
    cursor = cursor_of(str(picked[-1].id)) if len(picked) == limit else None
    return LetterReplay(is_dry, **counts, next_cursor=cursor)


async def _handle(conn: Conn, project: str, picked: Sequence[PickedLetter]) -> list[MessageOutcome]:
    outcomes: dict[int, MessageOutcome] = {}
    events: list[tuple[int, IncomingEvent]] = []
    for place, letter in enumerate(picked):
        try:
            events.append((place, read_event(_message_of(letter))))
        except UnreadableMessage as exc:
            outcomes[place] = Dead(str(exc))
    begun = 0
    while begun < len(events):
        batch = [
            (consumer_of(picked[place].queue, project), event) for place, event in events[begun:]
        ]
        found = await store.consume(conn, project, batch)
        for one in found:
            place, event = events[begun + one.n - 1]
            outcome = outcome_of(one, event)
            if isinstance(outcome, HeldBack):
                raise ProjectFull("", outcome.reason)
            outcomes[place] = outcome
        begun += len(found)
    return [outcomes[place] for place in range(len(picked))]


def _message_of(letter: PickedLetter) -> BrokerMessage:
    if letter.body is None:
        raise UnreadableMessage("body: it was not kept: it is larger than 1 MiB")
    properties = letter.headers.get("properties", {})
    return BrokerMessage(
        tag=0,
        body=letter.body.encode(),
        content_type=letter.content_type,
        message_id=properties.get("message_id"),
        type=properties.get("type"),
        correlation_id=properties.get("correlation_id"),
        headers=letter.headers.get("headers", {}),
    )


def _counts(outcomes: Sequence[MessageOutcome]) -> dict[str, int]:
    done = [one.outcome for one in outcomes if isinstance(one, ConsumedEvent)]
    new = [one for one in done if not one.is_duplicate]
    return {
        "letters": len(outcomes),
        "events": len(new),
        "duplicates": len(done) - len(new),
        "emails": sum(len(one.email_ids) for one in new),
        "cancelled": sum(len(one.cancelled_ids) for one in new),
        "failed": len(outcomes) - len(done),
    }


def _reason(outcome: MessageOutcome) -> str | None:
    return outcome.reason if isinstance(outcome, Dead) else None


def _readable(message: BrokerMessage) -> IncomingEvent | None:
    try:
        return read_event(message)
    except UnreadableMessage:
        return None


def _storable(text: str | None) -> str | None:
    return None if text is None else text.replace("\0", "\N{REPLACEMENT CHARACTER}")


def _storable_json(value: Any) -> Any:
    """Return JSON without the character that PostgreSQL cannot store."""
    if isinstance(value, dict):
        return {_storable(str(name)): _storable_json(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_storable_json(one) for one in value]
    return _storable(value) if isinstance(value, str) else value
