"""Filter rules: list, add, change, remove, try."""

from uuid import UUID

from mailqueue.contract.watch import FilterRule, FilterRuleTrial, RuleType
from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.watch.matching import ActiveRule, matches
from mailqueue.watch.store import people


async def list_page(
    conn: Conn,
    project_id: UUID,
    *,
    user_id: UUID | None = None,
    after: UUID | None = None,
    limit: int,
) -> list[FilterRule]:
    """Return rules in the order they were added, of a person or (None) of all."""
    return await people.list_rules(conn, project_id, user_id=user_id, after=after, limit=limit)


async def get(conn: Conn, project_id: UUID, rule_id: UUID) -> FilterRule:
    """Return one rule.

    Raises:
        NotFound: there is none of that id.
    """
    found = await people.list_rules(conn, project_id, rule_id=rule_id)
    if not found:
        raise NotFound("filter rule", rule_id)
    return found[0]


async def add(
    conn: Conn,
    project_id: UUID,
    user_id: UUID,
    *,
    rule_type: str,
    pattern: str,
    is_active: bool = True,
    priority: int = 0,
    by: str,
) -> FilterRule:
    """Add a rule for a person.

    Raises:
        InvalidField: a field is invalid.
        NotFound: the rule was removed at once.
    """
    made = await people.put_rule(
        conn,
        project_id,
        rule_id=None,
        user_id=user_id,
        rule_type=rule_type,
        pattern=pattern,
        is_active=is_active,
        priority=priority,
        by=by,
    )
    if made is None:
        raise NotFound("filter rule", "")
    return await get(conn, project_id, made)


async def change(
    conn: Conn,
    project_id: UUID,
    rule_id: UUID,
    *,
    rule_type: str | None = None,
    pattern: str | None = None,
    is_active: bool | None = None,
    priority: int | None = None,
    by: str,
) -> FilterRule:
    """Change the fields of a rule that are given.

    Raises:
        InvalidField: a field is invalid.
        NotFound: there is no rule of that id.
    """
    made = await people.put_rule(
        conn,
        project_id,
        rule_id=rule_id,
        user_id=None,
        rule_type=rule_type,
        pattern=pattern,
        is_active=is_active,
        priority=priority,
        by=by,
    )
    if made is None:
        raise NotFound("filter rule", rule_id)
    return await get(conn, project_id, made)


async def remove(conn: Conn, project_id: UUID, rule_id: UUID, *, by: str) -> None:
    """Remove a rule.

    Raises:
        NotFound: there is no rule of that id.
    """
    if not await people.remove_rule(conn, project_id, rule_id, by=by):
        raise NotFound("filter rule", rule_id)


def try_out(rule_type: RuleType, pattern: str, *, sender: str, subject: str) -> FilterRuleTrial:
    """Return whether a sample matches a pattern, whether or not it is saved. Pure."""
    rule = ActiveRule(None, rule_type, pattern)
    return FilterRuleTrial(matches(rule, sender=sender, subject=subject))
