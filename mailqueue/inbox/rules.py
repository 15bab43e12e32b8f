"""Event rules: list, add, change, remove, try."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from mailqueue.contract.automation.inbox import EventRule, RuleTrial
from mailqueue.core.errors import Conflict, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.inbox import store


async def list_(conn: Conn, project_id: UUID) -> list[EventRule]:
    """Return the rules of a project by name."""
    return await store.list_rules(conn, project_id)


async def get(conn: Conn, project_id: UUID, name: str) -> EventRule:
    """Return one rule.

    Raises:
        NotFound: there is no rule of that name.
    """
    found = await store.list_rules(conn, project_id, name=name)
    if not found:
        raise NotFound("event rule", name[:100])
    return found[0]


async def add(
    conn: Conn, project_id: UUID, name: str, *, given: Mapping[str, Any], by: str
) -> EventRule:
    """Add a rule with the given fields of EventRule; the others have their defaults.

    Raises:
        Conflict: there is a rule of that name.
        InvalidField: a field is invalid.
    """
    made = await store.put_rule(conn, project_id, name, given=given, must_be_new=True, by=by)
    if made is None:
        raise Conflict(f"event rule {name}")
    return made


async def change(
    conn: Conn, project_id: UUID, name: str, *, given: Mapping[str, Any], by: str
) -> EventRule:
    """Change the given fields of a rule.

    Raises:
        NotFound: there is no rule of that name.
        InvalidField: a field is invalid.
    """
    made = await store.put_rule(conn, project_id, name, given=given, must_be_new=False, by=by)
    if made is None:
        raise NotFound("event rule", name[:100])
    return made


async def remove(conn: Conn, project_id: UUID, name: str, *, by: str) -> None:
    """Remove a rule; what it did stays recorded.

    Raises:
        NotFound: there is no rule of that name.
    """
    if not await store.remove_rule(conn, project_id, name, by=by):
        raise NotFound("event rule", name[:100])


async def try_out(
    conn: Conn,
    project_id: UUID,
    name: str,
    *,
    payload: object,
    headers: Mapping[str, Any],
) -> RuleTrial:
    """Return what a rule, enabled or not, would do with a payload; nothing is kept.

    Raises:
        NotFound: there is no rule of that name.
        InvalidField: the payload cannot be stored.
    """
    found = await store.try_rule(conn, project_id, name, payload=payload, headers=headers)
    if found is None:
        raise NotFound("event rule", name[:100])
    return found
