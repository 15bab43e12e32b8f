"""Endpoints of lists of contacts."""

from http import HTTPStatus
from uuid import UUID

from mailqueue.api.contacts.schema import (
    ChangeList,
    ListCountQuery,
    ListMembers,
    ListMembersQuery,
    NewList,
    TryCondition,
)
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.contacts import lists
from mailqueue.contract.contacts import (
    ChangedMembers,
    ConditionTrial,
    Contact,
    ContactList,
    ContactLists,
    ListCount,
)
from mailqueue.contract.page import Page
from mailqueue.core.paging import key_of
from mailqueue.projects.model import Scope

_TAG = "Contacts"
PATH = "/v1/lists"
_ONE = PATH + "/{list}"


async def list_(call: RequestContext) -> ContactLists:
    """List all lists."""
    async with call.connection() as conn:
        return ContactLists(await lists.list_(conn, call.caller.project_id))


async def get(call: RequestContext) -> ContactList:
    """Return one list."""
    async with call.connection() as conn:
        return await lists.get(conn, call.caller.project_id, call.path["list"])


async def add(call: RequestContext) -> ContactList:
    """Add a list."""
    given = call.body.model_dump(exclude_unset=True)
    name = given.pop("name")
    async with call.connection() as conn:
        return await lists.add(conn, call.caller.project_id, name, given=given, by=call.by)


async def change(call: RequestContext) -> ContactList:
    """Change a list."""
    given = call.body.model_dump(exclude_unset=True)
    async with call.connection() as conn:
        return await lists.change(
            conn, call.caller.project_id, call.path["list"], given=given, by=call.by
        )


async def remove(call: RequestContext) -> None:
    """Remove a list."""
    async with call.connection() as conn:
        await lists.remove(conn, call.caller.project_id, call.path["list"], by=call.by)


async def count(call: RequestContext) -> ListCount:
    """Count the contacts of a list."""
    query: ListCountQuery = call.query
    async with call.connection() as conn:
        return await lists.count(
            conn, call.caller.project_id, call.path["list"], category=query.category
        )


async def members(call: RequestContext) -> Page[Contact]:
    """List the contacts of a list."""
    query: ListMembersQuery = call.query
    (after,) = key_of(query.cursor, UUID)
    async with call.connection() as conn:
        return await lists.members(
            conn,
            call.caller.project_id,
            call.path["list"],
            status=query.status,
            after=after,
            limit=query.limit,
        )


async def add_members(call: RequestContext) -> ChangedMembers:
    """Add contacts to a list."""
    return await _changed(call, is_added=True)


async def remove_members(call: RequestContext) -> ChangedMembers:
    """Remove contacts from a list."""
    return await _changed(call, is_added=False)


async def _changed(call: RequestContext, *, is_added: bool) -> ChangedMembers:
    body: ListMembers = call.body
    async with call.connection() as conn:
        return await lists.change_members(
            conn, call.caller.project_id, call.path["list"], body.contacts, is_added=is_added
        )


async def try_out(call: RequestContext) -> ConditionTrial:
    """Return which contacts a condition selects."""
    body: TryCondition = call.body
    async with call.connection() as conn:
        return await lists.try_condition(conn, call.caller.project_id, body.condition)


_MEMBERS_EXAMPLE = {"contacts": ["ann@example.com", "bob@example.com"]}

LIST_ENDPOINTS = (
    Endpoint(
        "GET",
        PATH,
        Scope.CONTACTS_READ,
        "List lists of contacts by name.",
        list_,
        response=ContactLists,
        tag=_TAG,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "POST",
        PATH,
        Scope.CONTACTS_WRITE,
        "Add a list of contacts.",
        add,
        request=NewList,
        response=ContactList,
        status=HTTPStatus.CREATED,
        tag=_TAG,
        example={"name": "german-pros", "condition": '$.attributes.plan == "pro"'},
        description="Contacts are added to it one by one, or it has all that satisfy a condition. "
        "A project may have 1,000 lists.",
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "POST",
        f"{PATH}/try",
        Scope.CONTACTS_READ,
        "Try a condition on the contacts of the project.",
        try_out,
        request=TryCondition,
        response=ConditionTrial,
        tag=_TAG,
        once=Once.NEVER,
        example={"condition": '$.attributes.plan == "pro" && $.language == "de"'},
        description="Returns how many contacts it selects, and some of them. Nothing is kept.",
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        _ONE,
        Scope.CONTACTS_READ,
        "Show a list of contacts.",
        get,
        response=ContactList,
        tag=_TAG,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "PUT",
        _ONE,
        Scope.CONTACTS_WRITE,
        "Change a list of contacts.",
        change,
        request=ChangeList,
        response=ContactList,
        tag=_TAG,
        example={"description": "Customers in Germany"},
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "DELETE",
        _ONE,
        Scope.CONTACTS_WRITE,
        "Remove a list of contacts.",
        remove,
        status=HTTPStatus.NO_CONTENT,
        tag=_TAG,
        description="Its contacts stay.",
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        f"{_ONE}/count",
        Scope.CONTACTS_READ,
        "Count the contacts that mail to a list would go to.",
        count,
        query=ListCountQuery,
        response=ListCount,
        tag=_TAG,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        f"{_ONE}/members",
        Scope.CONTACTS_READ,
        "List the contacts that mail to a list would go to, or those that have not confirmed.",
        members,
        query=ListMembersQuery,
        response=Page[Contact],
        tag=_TAG,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "POST",
        f"{_ONE}/members",
        Scope.CONTACTS_WRITE,
        "Add contacts to a list.",
        add_members,
        request=ListMembers,
        response=ChangedMembers,
        tag=_TAG,
        example=_MEMBERS_EXAMPLE,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "POST",
        f"{_ONE}/members/remove",
        Scope.CONTACTS_WRITE,
        "Remove contacts from a list.",
        remove_members,
        request=ListMembers,
        response=ChangedMembers,
        tag=_TAG,
        example=_MEMBERS_EXAMPLE,
        test_keys=ForTestKeys.OWN,
    ),
)
