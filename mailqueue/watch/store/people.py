"""Persons and their filter rules as rows."""

from uuid import UUID

from mailqueue.contract.watch import FilterRule, InboxUser
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.watch import watch as sql


async def list_users(
    conn: Conn,
    project_id: UUID,
    *,
    user_id: UUID | None = None,
    after: UUID | None = None,
    limit: int = 1,
) -> list[InboxUser]:
    """Return persons in the order they were added, or the one with the id."""
    values = {"project_id": project_id, "id": user_id, "after": after, "limit": limit}
    return await fetch.many(conn, sql.LIST_INBOX_USERS, values, InboxUser)


async def add_user(conn: Conn, project_id: UUID, email: str, *, by: str) -> UUID | None:
    """Add a person; return None where the project has one with this address.

    Raises:
        InvalidField: the address is invalid.
    """
    values = {"project_id": project_id, "email": email, "by": by}
    with refusals(otherwise="email"):
        async with conn.transaction():
            return await fetch.maybe(conn, sql.ADD_INBOX_USER, values, UUID)


async def pause_user(
    conn: Conn, project_id: UUID, user_id: UUID, *, is_paused: bool, by: str
) -> bool:
    """Pause or resume all notifications; return False where there is no such person."""
    values = {"project_id": project_id, "id": user_id, "is_paused": is_paused, "by": by}
    return await fetch.value(conn, sql.PAUSE_INBOX_USER, values, bool)


async def remove_user(conn: Conn, project_id: UUID, user_id: UUID, *, by: str) -> bool:
    """Remove a person with everything; return False where there is none."""
    values = {"project_id": project_id, "id": user_id, "by": by}
    return await fetch.value(conn, sql.REMOVE_INBOX_USER, values, bool)


async def list_rules(
    conn: Conn,
    project_id: UUID,
    *,
    rule_id: UUID | None = None,
    user_id: UUID | None = None,
    after: UUID | None = None,
    limit: int = 1,
) -> list[FilterRule]:
    """Return rules in the order they were added, of one person or with the id."""
    values = {
        "project_id": project_id,
        "id": rule_id,
        "user_id": user_id,
        "after": after,
        "limit": limit,
    }
    return await fetch.many(conn, sql.LIST_FILTER_RULES, values, FilterRule)


async def put_rule(
    conn: Conn,
    project_id: UUID,
    *,
    rule_id: UUID | None,
    user_id: UUID | None,
    rule_type: str | None,
    pattern: str | None,
    is_active: bool | None,
    priority: int | None,
    by: str,
) -> UUID | None:
    """Add a rule, or change the fields that are given; return None where there is no such rule.

    Raises:
        InvalidField: a field is invalid.
    """
    values = {
        "project_id": project_id,
        "id": rule_id,
        "user_id": user_id,
        "rule_type": rule_type,
        "pattern": pattern,
        "is_active": is_active,
        "priority": priority,
        "by": by,
    }
    with refusals(otherwise="pattern"):
        async with conn.transaction():
            return await fetch.maybe(conn, sql.PUT_FILTER_RULE, values, UUID)


async def remove_rule(conn: Conn, project_id: UUID, rule_id: UUID, *, by: str) -> bool:
    """Remove a rule; return False where there is none."""
    values = {"project_id": project_id, "id": rule_id, "by": by}
    return await fetch.value(conn, sql.REMOVE_FILTER_RULE, values, bool)
