"""Endpoints that hold, release, cancel or move all queued mail that matches, or queue it again."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Literal
from uuid import UUID

from pydantic import Field

from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.api.http.pagination import PageQuery, page_of
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.contract.background import BackgroundOperation, MatchCount
from mailqueue.contract.page import Page
from mailqueue.core.errors import InvalidField
from mailqueue.core.paging import key_of
from mailqueue.operations import background
from mailqueue.operations.background import OperationVerb
from mailqueue.projects.model import Scope

PATH = "/v1/operations"
_TAG = "Emails"


class OperationFilter(StrictRequestModel):
    """Conditions that an email must match, all of those that are given; at least one is needed."""

    subject: StorableText | None = Field(default=None, min_length=1, max_length=998)
    """Text that the subject contains, in upper or lower case; `%` and `_` stand for themselves.
    Emails from a template have the template's subject, with variables not filled in.
    """
    campaign_id: StorableText | None = Field(default=None, min_length=1, max_length=255)
    """Campaign of the email."""
    tag: StorableText | None = Field(default=None, min_length=1, max_length=255)
    """Tag of the email."""
    domain: StorableText | None = Field(default=None, min_length=1, max_length=255)
    """Domain of any recipient."""
    category: StorableText | None = Field(default=None, min_length=1, max_length=100)
    """Category, such as `marketing`."""
    lane: StorableText | None = Field(default=None, min_length=1, max_length=200)
    """Priority, and a route if wanted: `high` or `high/relay`."""
    sender: StorableText | None = Field(default=None, min_length=1, max_length=100)
    """Name of the sender account that was used, or is the only one that can be."""
    batch: UUID | None = Field(default=None, strict=False)
    """Batch id."""
    status: Literal["pending", "held", "assigned", "failed", "expired", "cancelled"] | None = None
    """Status, where the operation takes more than one."""
    older_than: StorableText | None = Field(default=None, min_length=1, max_length=50)
    """Minimum age, such as `30min`, `4h` or `2d`."""
    newer_than: StorableText | None = Field(default=None, min_length=1, max_length=50)
    """Maximum age, such as `4h`."""

    def conditions(self) -> Mapping[str, str]:
        """Return the conditions by name."""
        given = {name: getattr(self, name) for name in background.FILTERS}
        return {name: str(value) for name, value in given.items() if value is not None}


class Matching(StrictRequestModel):
    """An operation and the emails that it is for."""

    verb: Literal["hold", "release", "cancel", "requeue", "move"]
    """`hold` takes pending emails, `release` held ones, `cancel` all that are not sent yet, `move`
    pending and held ones. `requeue` queues failed, expired and cancelled ones again, with the same
    ids.
    """
    filter: OperationFilter
    """Conditions that an email must match."""
    to: StorableText | None = Field(default=None, min_length=1, max_length=100)
    """Name of the sender account of a `move`; any of the project if omitted."""


class NewOperation(Matching):
    """An operation that is to begin."""

    reason: StorableText = Field(default="by the API", min_length=1, max_length=500)
    """Reason, stored with the emails and recorded in the audit log."""


async def count(call: RequestContext) -> MatchCount:
    """Count the mail that an operation would change."""
    wanted: Matching = call.body
    async with call.connection() as conn:
        with _named():
            return await background.count(
                conn,
                call.caller.project_id,
                verb=OperationVerb(wanted.verb),
                where=wanted.filter.conditions(),
                to=wanted.to,
            )


async def begin(call: RequestContext) -> BackgroundOperation:
    """Begin an operation, which workers carry out."""
    wanted: NewOperation = call.body
    async with call.connection() as conn:
        with _named():
            return await background.begin(
                conn,
                call.caller.project_id,
                verb=OperationVerb(wanted.verb),
                where=wanted.filter.conditions(),
                reason=wanted.reason,
                by=call.by,
                to=wanted.to,
            )


async def index(call: RequestContext) -> Page[BackgroundOperation]:
    """List operations, newest first."""
    query: PageQuery = call.query
    (before,) = key_of(query.cursor, UUID)
    async with call.connection() as conn:
        found = await background.page(
            conn, call.caller.project_id, before=before, limit=query.limit + 1
        )
    return page_of(found, query.limit, key=lambda one: (one.id,))


async def show(call: RequestContext) -> BackgroundOperation:
    """Return one operation with its progress."""
    async with call.connection() as conn:
        return await background.find(conn, call.caller.project_id, call.id("operation_id"))


async def stop(call: RequestContext) -> BackgroundOperation:
    """Stop an operation after its current batch."""
    async with call.connection() as conn:
        return await background.stop(
            conn, call.caller.project_id, call.id("operation_id"), by=call.by
        )


@contextmanager
def _named() -> Iterator[None]:
    """Name the field of the body in whose filter a condition is refused."""
    try:
        yield
    except InvalidField as exc:
        if exc.field not in background.FILTERS:
            raise
        raise InvalidField("filter", str(exc), exc.refusal) from exc


_EXAMPLE = {"verb": "hold", "filter": {"subject": "spring sale"}}
ENDPOINTS = (
    Endpoint(
        "GET",
        PATH,
        Scope.EMAIL_READ,
        "List operations on all matching emails, newest first.",
        index,
        query=PageQuery,
        response=Page[BackgroundOperation],
        tag=_TAG,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "POST",
        PATH,
        Scope.EMAIL_SEND,
        "Hold, release, cancel, move or queue again all emails that match a filter.",
        begin,
        request=NewOperation,
        response=BackgroundOperation,
        status=HTTPStatus.CREATED,
        tag=_TAG,
        description="Workers carry it out in batches; `GET /v1/operations/{operation_id}` shows "
        "the progress. Emails accepted later are not changed. Operations of a project are carried "
        "out one after another, those of test keys apart from those of live keys. 409 if 100 of "
        "them are not finished.",
        example=_EXAMPLE | {"reason": "wrong price"},
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "POST",
        f"{PATH}/count",
        Scope.EMAIL_READ,
        "Count the emails that an operation would change.",
        count,
        request=Matching,
        response=MatchCount,
        once=Once.NEVER,
        tag=_TAG,
        description=f"Changes nothing. Counts at most {background.MAX_COUNTED:,} emails, and "
        f"searches at most {background.MAX_SEARCHED:,}; `is_complete` is false where there may be "
        "more.",
        example=_EXAMPLE,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        f"{PATH}/{{operation_id}}",
        Scope.EMAIL_READ,
        "Show an operation and its progress.",
        show,
        response=BackgroundOperation,
        tag=_TAG,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "POST",
        f"{PATH}/{{operation_id}}/stop",
        Scope.EMAIL_SEND,
        "Stop an operation.",
        stop,
        response=BackgroundOperation,
        tag=_TAG,
        description="It stops after its current batch. Emails that it has changed stay changed. "
        "409 if it is over.",
        test_keys=ForTestKeys.OWN,
    ),
)
