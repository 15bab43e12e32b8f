"""Endpoints of inbox users and filter rules."""

from http import HTTPStatus
from uuid import UUID

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.api.http.pagination import PageQuery, page_of
from mailqueue.api.watch.consents import remove_with_consents
from mailqueue.api.watch.schema import (
    ChangeFilterRule,
    ChangeInboxUser,
    NewFilterRule,
    NewInboxUser,
    OfUserQuery,
    TryFilterRule,
)
from mailqueue.contract.page import Page
from mailqueue.contract.watch import FilterRule, FilterRuleTrial, InboxUser, RuleType
from mailqueue.core.paging import key_of
from mailqueue.db.fetch import Conn
from mailqueue.projects.model import Scope
from mailqueue.watch import rules, users

_TAG = "Inbox watch"
USERS = "/v1/inbox-users"
RULES = "/v1/filter-rules"
_USER = USERS + "/{inbox_user_id}"
_RULE = RULES + "/{filter_rule_id}"
SOMEBODY = "0197b8f0-0000-7000-8000-0000000000c1"


async def list_users(call: RequestContext) -> Page[InboxUser]:
    """List inbox users."""
    query: PageQuery = call.query
    (after,) = key_of(query.cursor, UUID)
    async with call.connection() as conn:
        found = await users.list_page(
            conn, call.caller.project_id, after=after, limit=query.limit + 1
        )
    return page_of(found, query.limit, key=lambda one: (one.id,))


async def add_user(call: RequestContext) -> InboxUser:
    """Add an inbox user."""
    body: NewInboxUser = call.body
    async with call.connection() as conn:
        return await users.add(conn, call.caller.project_id, body.email, by=call.by)


async def get_user(call: RequestContext) -> InboxUser:
    """Return one inbox user."""
    async with call.connection() as conn:
        return await users.get(conn, call.caller.project_id, call.id("inbox_user_id"))


async def change_user(call: RequestContext) -> InboxUser:
    """Pause or resume all notifications of an inbox user."""
    body: ChangeInboxUser = call.body
    async with call.connection() as conn:
        return await users.pause(
            conn,
            call.caller.project_id,
            call.id("inbox_user_id"),
            is_paused=body.notifications_paused,
            by=call.by,
        )


async def remove_user(call: RequestContext) -> None:
    """Remove an inbox user; consents to inboxes at Gmail are revoked afterwards."""
    user_id = call.id("inbox_user_id")

    async def remove(conn: Conn) -> None:
        await users.remove(conn, call.caller.project_id, user_id, by=call.by)

    await remove_with_consents(call, remove, user_id=user_id)


async def list_rules(call: RequestContext) -> Page[FilterRule]:
    """List filter rules."""
    query: OfUserQuery = call.query
    (after,) = key_of(query.cursor, UUID)
    async with call.connection() as conn:
        found = await rules.list_page(
            conn,
            call.caller.project_id,
            user_id=query.user_id,
            after=after,
            limit=query.limit + 1,
        )
    return page_of(found, query.limit, key=lambda one: (one.id,))


async def add_rule(call: RequestContext) -> FilterRule:
    """Add a filter rule."""
    body: NewFilterRule = call.body
    async with call.connection() as conn:
        return await rules.add(
            conn,
            call.caller.project_id,
            body.user_id,
            rule_type=body.rule_type,
            pattern=body.pattern,
            is_active=body.is_active,
            priority=body.priority,
            by=call.by,
        )


async def get_rule(call: RequestContext) -> FilterRule:
    """Return one filter rule."""
    async with call.connection() as conn:
        return await rules.get(conn, call.caller.project_id, call.id("filter_rule_id"))


async def change_rule(call: RequestContext) -> FilterRule:
    """Change a filter rule."""
    body: ChangeFilterRule = call.body
    async with call.connection() as conn:
        return await rules.change(
            conn,
            call.caller.project_id,
            call.id("filter_rule_id"),
            rule_type=body.rule_type,
            pattern=body.pattern,
            is_active=body.is_active,
            priority=body.priority,
            by=call.by,
        )


async def remove_rule(call: RequestContext) -> None:
    """Remove a filter rule."""
    async with call.connection() as conn:
        await rules.remove(conn, call.caller.project_id, call.id("filter_rule_id"), by=call.by)


async def try_rule(call: RequestContext) -> FilterRuleTrial:
    """Return whether a sample matches a pattern."""
    body: TryFilterRule = call.body
    return rules.try_out(
        RuleType(body.rule_type), body.pattern, sender=body.sender_address, subject=body.subject
    )


USER_ENDPOINTS = (
    Endpoint(
        "GET",
        USERS,
        Scope.PROJECT_READ,
        "List inbox users.",
        list_users,
        query=PageQuery,
        response=Page[InboxUser],
        tag=_TAG,
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        USERS,
        Scope.PROJECT_WRITE,
        "Add an inbox user.",
        add_user,
        request=NewInboxUser,
        response=InboxUser,
        status=HTTPStatus.CREATED,
        tag=_TAG,
        example={"email": "ann@example.com"},
        description="A person whose inboxes are watched. A project may have 10,000.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "GET",
        _USER,
        Scope.PROJECT_READ,
        "Show an inbox user.",
        get_user,
        response=InboxUser,
        tag=_TAG,
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "PUT",
        _USER,
        Scope.PROJECT_WRITE,
        "Pause or resume all notifications of an inbox user.",
        change_user,
        request=ChangeInboxUser,
        response=InboxUser,
        tag=_TAG,
        example={"notifications_paused": True},
        description="Notifications that wait are delivered after the pause; mail that arrives "
        "during it is not reported later.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "DELETE",
        _USER,
        Scope.PROJECT_WRITE,
        "Remove an inbox user.",
        remove_user,
        status=HTTPStatus.NO_CONTENT,
        tag=_TAG,
        description="Inboxes, channels, filter rules and notifications are removed, too.",
        test_keys=ForTestKeys.REFUSED,
    ),
)
RULE_ENDPOINTS = (
    Endpoint(
        "GET",
        RULES,
        Scope.PROJECT_READ,
        "List filter rules.",
        list_rules,
        query=OfUserQuery,
        response=Page[FilterRule],
        tag=_TAG,
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        RULES,
        Scope.PROJECT_WRITE,
        "Add a filter rule.",
        add_rule,
        request=NewFilterRule,
        response=FilterRule,
        status=HTTPStatus.CREATED,
        tag=_TAG,
        example={"user_id": SOMEBODY, "rule_type": "sender", "pattern": "example.com"},
        description="An inbox user is notified of mail that matches any active rule, and of all "
        "mail without one. At most 100 rules each.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        f"{RULES}/try",
        Scope.PROJECT_READ,
        "Try a filter rule on a sample.",
        try_rule,
        request=TryFilterRule,
        response=FilterRuleTrial,
        tag=_TAG,
        once=Once.NEVER,
        example={"rule_type": "subject", "pattern": "invoice", "subject": "Invoice 81 of May"},
        description="Says whether the sample matches the pattern. Nothing is kept.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "GET",
        _RULE,
        Scope.PROJECT_READ,
        "Show a filter rule.",
        get_rule,
        response=FilterRule,
        tag=_TAG,
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "PUT",
        _RULE,
        Scope.PROJECT_WRITE,
        "Change a filter rule.",
        change_rule,
        request=ChangeFilterRule,
        response=FilterRule,
        tag=_TAG,
        example={"is_active": False},
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "DELETE",
        _RULE,
        Scope.PROJECT_WRITE,
        "Remove a filter rule.",
        remove_rule,
        status=HTTPStatus.NO_CONTENT,
        tag=_TAG,
        test_keys=ForTestKeys.REFUSED,
    ),
)
