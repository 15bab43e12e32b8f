"""SQL of queues of a broker, their messages and dead letters."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.bridge.model import IncomingEvent, LetterFilter
from mailqueue.contract.automation.bridge import BrokerQueueState, DeadLetterDetail
from mailqueue.contract.automation.inbox import EventAction, EventOutcome
from mailqueue.db import arrays, fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals
from mailqueue.db.statements import bridge as sql


class ConsumedMessage(NamedTuple):
    """What became of the message with the number `n`, from 1; `code` is the SQLSTATE of an error.

    `answer` is that of `consume()`.
    """

    n: int
    answer: dict[str, Any] | None
    code: str | None
    error: str | None


class PickedLetter(NamedTuple):
    """A dead letter to replay."""

    id: UUID
    queue: str
    message_id: UUID | None
    type: str | None
    content_type: str | None
    headers: dict[str, Any]
    body: str | None


async def consume(
    conn: Conn, project: str, events: Sequence[tuple[UUID, IncomingEvent]]
) -> list[ConsumedMessage]:
    """Handle events in order, each for a consumer, up to the first that raises an error."""
    values = {
        "project": project,
        "consumers": arrays.uuids([consumer for consumer, _ in events]),
        "messages": arrays.uuids([event.message_id for _, event in events]),
        "types": arrays.texts([event.type for _, event in events]),
        "payloads": arrays.texts([event.payload for _, event in events]),
        "headers": arrays.texts([event.headers for _, event in events]),
    }
    return await fetch.many(conn, sql.CONSUME_MESSAGES, values, ConsumedMessage)


def outcome_of(answer: Mapping[str, Any]) -> EventOutcome:
    """Return the answer of `consume()` as a value."""
    actions = [EventAction(**one) for one in answer["actions"]]
    return EventOutcome(**{**answer, "actions": actions})


async def note_queue(
    conn: Conn, project: str, queue: str, *, state: str, reason: str | None, received: int
) -> None:
    """Write the state of a queue, and how many messages were received since the last call."""
    values = {
        "project": project,
        "queue": queue,
        "state": state,
        "reason": reason,
        "received": received,
    }
    await fetch.run(conn, sql.NOTE_BROKER_QUEUE, values)


async def keep_letter(conn: Conn, values: Mapping[str, Any]) -> UUID:
    """Keep a message that could not be handled; return the id of its row."""
    given = {**values, "headers": Jsonb(values["headers"])}
    return await fetch.value(conn, sql.KEEP_DEAD_LETTER, given, UUID)


async def pick_letters(
    conn: Conn,
    project_id: UUID,
    *,
    ids: Sequence[UUID] | None,
    filters: LetterFilter,
    after: UUID | None,
    limit: int,
) -> list[PickedLetter]:
    """Return dead letters to replay, oldest first, locked.

    Raises:
        InvalidField: no filter is given.
    """
    values = {
        "project_id": project_id,
        "ids": None if ids is None else arrays.uuids(ids),
        "type": filters.type,
        "since": filters.since,
        "until": filters.until,
        "after": after,
        "limit": limit,
    }
    with refusals():
        async with conn.transaction():
            return await fetch.many(conn, sql.PICK_DEAD_LETTERS, values, PickedLetter)


async def settle_letters(
    conn: Conn,
    project_id: UUID,
    done: Sequence[tuple[UUID, str | None]],
    *,
    detail: Mapping[str, Any],
    by: str,
) -> None:
    """Write what became of dead letters: None, or why they could not be handled."""
    values = {
        "project_id": project_id,
        "ids": arrays.uuids([letter_id for letter_id, _ in done]),
        "reasons": arrays.texts([reason for _, reason in done]),
        "detail": Jsonb(detail),
        "by": by,
    }
    await fetch.run(conn, sql.SETTLE_DEAD_LETTERS, values)


async def list_letters(
    conn: Conn,
    project_id: UUID,
    *,
    letter_id: UUID | None = None,
    filters: LetterFilter,
    status: str | None,
    before: UUID | None,
    limit: int,
) -> list[DeadLetterDetail]:
    """Return dead letters of a project, newest first."""
    values = {
        "project_id": project_id,
        "id": letter_id,
        "type": filters.type,
        "status": status,
        "since": filters.since,
        "until": filters.until,
        "before": before,
        "limit": limit,
    }
    return await fetch.many(conn, sql.LIST_DEAD_LETTERS, values, DeadLetterDetail)


async def list_queues(conn: Conn, project_id: UUID | None) -> list[BrokerQueueState]:
    """Return the queues of one project, or of all, by name."""
    values = {"project_id": project_id}
    return await fetch.many(conn, sql.LIST_BROKER_QUEUES, values, BrokerQueueState)
