"""Endpoints of suppressed addresses."""

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.suppression.imports import IMPORT_ENDPOINTS
from mailqueue.api.suppression.lists import LIST_ENDPOINTS
from mailqueue.api.suppression.schema import (
    AddSuppressions,
    CheckQuery,
    RemoveQuery,
    SuppressionItem,
    SuppressionsQuery,
)
from mailqueue.contract.page import Page
from mailqueue.contract.suppression import (
    AddedSuppressions,
    CheckedSuppression,
    KnownSuppression,
    RemovedSuppression,
    Suppression,
)
from mailqueue.core.errors import InvalidField
from mailqueue.core.paging import key_of
from mailqueue.projects.model import Scope
from mailqueue.suppression import entries
from mailqueue.suppression.acceptable import new_suppression, reason_of
from mailqueue.suppression.model import (
    NewSuppression,
)

_TAG = "Suppressions"


async def add(call: RequestContext) -> AddedSuppressions:
    """Suppress addresses."""
    wanted = _wanted(call.body)
    async with call.connection() as conn:
        found = await entries.add(conn, call.caller.project, entries=wanted, by=call.by)
    return AddedSuppressions(found)


def _wanted(body: AddSuppressions) -> list[NewSuppression]:
    given: list[str | SuppressionItem] = [body.email] if body.email is not None else [*body.emails]
    wanted = []
    for place, item in enumerate(given):
        one = SuppressionItem(email=item) if isinstance(item, str) else item
        try:
            wanted.append(
                new_suppression(
                    one.email,
                    reason=one.reason or body.reason,
                    category=one.category if one.category is not None else body.category,
                    detail=one.detail or body.detail,
                    expires_at=one.until or body.until,
                )
            )
        except InvalidField as exc:
            field = exc.field if body.email is not None else f"emails.{place}.{exc.field}"
            raise exc.named(field) from None
    return wanted


async def list_(call: RequestContext) -> Page[Suppression]:
    """List suppressed addresses, newest first."""
    query: SuppressionsQuery = call.query
    (before,) = key_of(query.cursor, int)
    async with call.connection() as conn:
        return await entries.list_page(
            conn,
            call.caller.project,
            before=before,
            limit=query.limit,
            reason=None if query.reason is None else reason_of(query.reason),
            category=query.category,
            having=query.q,
        )


async def check(call: RequestContext) -> CheckedSuppression:
    """Return whether mail to an address is sent."""
    query: CheckQuery = call.query
    async with call.connection() as conn:
        return await entries.check(
            conn, call.caller.project, email=query.email, category=query.category
        )


async def remove(call: RequestContext) -> RemovedSuppression:
    """Remove an address from the suppression list."""
    query: RemoveQuery = call.query
    who, project = call.path["email_hash"], call.caller.project
    said = {"category": query.category, "why": query.why}
    async with call.connection() as conn:
        if "@" in who:
            return await entries.remove(conn, project, email=who, by=call.by, **said)
        return await entries.remove_by_hash(conn, project, address_hash=who, by=call.by, **said)


async def show(call: RequestContext) -> KnownSuppression:
    """Return the current and ended suppressions of an address."""
    async with call.connection() as conn:
        return await entries.show(conn, call.caller.project, who=call.path["email_hash"])


ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/suppressions",
        Scope.SUPPRESSION_MANAGE,
        "Suppress one or more addresses.",
        add,
        request=AddSuppressions,
        response=AddedSuppressions,
        tag=_TAG,
        example={"emails": ["ann@example.com", "bob@example.com"], "reason": "manual"},
        description="Queued emails to them are not sent. Up to 1,000 addresses; for more, import "
        "a list.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "GET",
        "/v1/suppressions",
        Scope.SUPPRESSION_MANAGE,
        "List suppressed addresses, newest first.",
        list_,
        query=SuppressionsQuery,
        response=Page[Suppression],
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "GET",
        "/v1/suppressions/check",
        Scope.SUPPRESSION_MANAGE,
        "Check whether an address is suppressed.",
        check,
        query=CheckQuery,
        response=CheckedSuppression,
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    *LIST_ENDPOINTS,
    *IMPORT_ENDPOINTS,
    Endpoint(
        "GET",
        "/v1/suppressions/{email_hash}",
        Scope.SUPPRESSION_MANAGE,
        "Show why an address is suppressed, and earlier suppressions.",
        show,
        response=KnownSuppression,
        tag=_TAG,
        description="Accepts the address, too. Removed suppressions stay in the history.",
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "DELETE",
        "/v1/suppressions/{email_hash}",
        Scope.SUPPRESSION_MANAGE,
        "Remove an address from the suppression list.",
        remove,
        query=RemoveQuery,
        response=RemovedSuppression,
        tag=_TAG,
        description="The hash is in the list and the check. The address is accepted, too, but "
        "may then appear in the logs of proxies.",
        test_keys=ForTestKeys.REFUSED,
    ),
)
