"""SQL of event rules and the inbox."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.errors import DataError
from psycopg.types.json import Jsonb

from mailqueue.contract.automation.inbox import (
    EventAction,
    EventOutcome,
    EventReplay,
    EventRule,
    InboxEvent,
    InboxEventDetail,
    RuleTrial,
    TriedEmail,
)
from mailqueue.core.errors import InvalidField
from mailqueue.core.paging import cursor_of
from mailqueue.db.fetch import Conn, many, maybe, value
from mailqueue.db.refusals import refusals
from mailqueue.db.statements import inbox as sql
from mailqueue.inbox.model import EventFilter


class _InboxRow(NamedTuple):
    id: int
    message_id: UUID
    consumer_id: UUID
    type: str
    status: str
    reason: str | None
    received_at: datetime
    receive_count: int
    expires_at: datetime | None
    conversation_id: str | None
    correlation_id: str | None
    traceparent: str | None
    is_test: bool
    actions: list[dict[str, Any]]


async def list_rules(conn: Conn, project_id: UUID, *, name: str | None = None) -> list[EventRule]:
    """Return the rules of a project by name, or the one with the name."""
    return await many(
        conn, sql.LIST_EVENT_RULES, {"project_id": project_id, "name": name}, EventRule
    )


async def put_rule(
    conn: Conn,
    project_id: UUID,
    name: str,
    *,
    given: Mapping[str, Any],
    must_be_new: bool,
    by: str,
) -> EventRule | None:
    """Add or change a rule; return None where it must be new and exists, or the reverse.

    Raises:
        InvalidField: a field is invalid.
    """
    params = {
        "project_id": project_id,
        "name": name,
        "given": Jsonb(given),
        "must_be_new": must_be_new,
        "by": by,
    }
    with refusals(otherwise="rule"):
        async with conn.transaction():
            return await maybe(conn, sql.PUT_EVENT_RULE, params, EventRule)


async def remove_rule(conn: Conn, project_id: UUID, name: str, *, by: str) -> bool:
    """Remove a rule; return False where there is none."""
    params = {"project_id": project_id, "name": name, "by": by}
    return await value(conn, sql.REMOVE_EVENT_RULE, params, bool)


async def try_rule(
    conn: Conn, project_id: UUID, name: str, *, payload: Any, headers: Mapping[str, Any]
) -> RuleTrial | None:
    """Return what a rule would do with a payload; None where there is no such rule.

    Raises:
        InvalidField: the payload cannot be stored.
    """
    params = {
        "project_id": project_id,
        "name": name,
        "payload": Jsonb(payload),
        "headers": Jsonb(headers),
    }
    try:
        with refusals(otherwise="payload"):
            async with conn.transaction():
                found = await maybe(conn, sql.TRY_EVENT_RULE, params, dict)
    except DataError as exc:
        raise InvalidField("payload", "is not JSON that can be stored") from exc
    if found is None:
        return None
    mail = found.pop("email")
    if mail is not None and mail["run_at"] is not None:
        mail["run_at"] = datetime.fromisoformat(mail["run_at"])
    return RuleTrial(**found, email=None if mail is None else TriedEmail(**mail))


async def consume(
    conn: Conn,
    project: str,
    *,
    message_id: UUID,
    consumer_id: UUID,
    event_type: str,
    payload: object,
    headers: Mapping[str, Any],
    is_test: bool,
    sender: str,
) -> EventOutcome:
    """Deliver an event; return what became of it. `sender` is the way it came by: api or sql.

    Raises:
        InvalidField: the payload cannot be stored.
    """
    params = {
        "message_id": message_id,
        "consumer_id": consumer_id,
        "type": event_type,
        "payload": Jsonb(payload),
        "headers": Jsonb(headers),
        "project": project,
        "is_test": is_test,
        "sender": sender,
    }
    try:
        with refusals(otherwise="payload"):
            async with conn.transaction():
                found = await value(conn, sql.CONSUME_EVENT, params, dict)
    except DataError as exc:
        raise InvalidField("payload", "is not JSON that can be stored") from exc
    return EventOutcome(**found | {"actions": _actions(found["actions"])})


async def list_page(
    conn: Conn, project_id: UUID, *, filters: EventFilter, before: int | None, limit: int
) -> list[tuple[int, InboxEvent]]:
    """Return events of a project, newest first, each with its number."""
    params = {
        "project_id": project_id,
        "type": filters.type,
        "status": filters.status,
        "since": filters.since,
        "until": filters.until,
        "before": before,
        "limit": limit,
    }
    found = []
    for row in await many(conn, sql.LIST_INBOX, params, _InboxRow):
        known = row._asdict() | {"actions": _actions(row.actions)}
        found.append((known.pop("id"), InboxEvent(**known)))
    return found


async def find(conn: Conn, project_id: UUID | None, message_id: UUID) -> list[InboxEventDetail]:
    """Return the event of a message, once for each consumer; of any project for None."""
    params = {"project_id": project_id, "message_id": message_id}
    found = await many(conn, sql.FIND_INBOX_EVENT, params, InboxEventDetail)
    return [replace(one, actions=_actions(one.actions)) for one in found]


async def replay(
    conn: Conn,
    project_id: UUID,
    *,
    message_ids: Sequence[UUID] | None,
    filters: EventFilter,
    after: int | None,
    limit: int,
    is_dry: bool,
    by: str,
) -> EventReplay:
    """Apply today's rules to one page of events; return the counts.

    Raises:
        InvalidField: no filter is given.
    """
    params = {
        "project_id": project_id,
        "message_ids": None if message_ids is None else list(message_ids),
        "type": filters.type,
        "status": filters.status,
        "since": filters.since,
        "until": filters.until,
        "after": after,
        "limit": limit,
        "is_dry": is_dry,
        "by": by,
    }
    with refusals():
        async with conn.transaction():
            found = await value(conn, sql.REPLAY_INBOX, params, dict)
    last = found.pop("next")
    return EventReplay(**found, next_cursor=None if last is None else cursor_of(last))


def _actions(found: Sequence[Any]) -> list[EventAction]:
    return [EventAction(**one) for one in found]
