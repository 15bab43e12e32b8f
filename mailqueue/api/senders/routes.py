"""Endpoints of routing rules: list, add, remove, and show what sends an email."""

from http import HTTPStatus
from typing import Annotated

from pydantic import Field

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.api.senders.credentials import ShortText
from mailqueue.contract.page import Page
from mailqueue.contract.senders import Candidate, Route
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.projects.model import Scope
from mailqueue.senders.routes import manage
from mailqueue.senders.routes.model import NewRoute

PATH = "/v1/projects/{pid}/routes"
_TAG = "Sender accounts"
_MAX_DIGITS = 9


class CreateRoute(RequestModel):
    """A routing rule: emails that name no sender account and match use its accounts.

    At least one of `category`, `tag` and `domain` is needed; an omitted one matches every email.
    """

    senders: Annotated[list[ShortText], Field(min_length=1, max_length=20)]
    """Names of the sender accounts, in the order in which they are tried."""
    category: ShortText | None = None
    """Category of the email."""
    tag: ShortText | None = None
    """Tag of the email."""
    domain: ShortText | None = None
    """Recipient domain: `example.com`, or `*.example.com` for its subdomains."""
    position: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Place among the rules, of which the first that matches applies; the last if omitted."""
    note: Annotated[str, Field(max_length=500)] | None = None
    """Note."""


class TestRoute(RequestModel):
    """An email whose sender accounts are asked for."""

    recipient: ShortText
    """Address of the recipient."""
    category: ShortText = "transactional"
    """Category of the email."""
    tags: Annotated[tuple[ShortText, ...], Field(max_length=20)] = ()
    """Tags of the email."""


async def index(call: RequestContext) -> Page[Route]:
    """List rules in the order in which they are matched."""
    async with call.connection() as conn:
        return Page(await manage.list_all(conn, project=call.caller.project), None)


async def create(call: RequestContext) -> Route:
    """Add a rule."""
    body: CreateRoute = call.body
    new = NewRoute(
        tuple(body.senders), body.category, body.tag, body.domain, body.position, body.note
    )
    async with call.connection() as conn:
        try:
            return await manage.add(conn, call.caller.project, new=new, by=call.by)
        except InvalidField as exc:
            field = "senders" if exc.field == "sender" else exc.field
            raise InvalidField(field, exc.why) from None


async def remove(call: RequestContext) -> None:
    """Remove a rule."""
    given = call.path["route_id"]
    if not (given.isascii() and given.isdigit() and len(given) <= _MAX_DIGITS):
        raise NotFound("route", given[:100])
    async with call.connection() as conn:
        await manage.remove(conn, call.caller.project, rule_id=int(given), by=call.by)


async def test(call: RequestContext) -> Page[Candidate]:
    """Return the accounts that would send such an email, in order, and what prevents each."""
    body: TestRoute = call.body
    async with call.connection() as conn:
        found = await manage.candidates(
            conn,
            call.caller.project,
            recipient=body.recipient,
            category=body.category,
            tags=list(body.tags),
        )
    return Page(found, None)


ROUTE_ENDPOINTS = (
    Endpoint(
        "GET",
        PATH,
        Scope.PROJECT_READ,
        "List routing rules in the order in which they are matched.",
        index,
        response=Page[Route],
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "POST",
        PATH,
        Scope.PROJECT_WRITE,
        "Add a routing rule.",
        create,
        request=CreateRoute,
        response=Route,
        status=HTTPStatus.CREATED,
        tag=_TAG,
        example={"category": "marketing", "senders": ["bulk", "spare"]},
        description="An email gets its rule when it is accepted. While no account of the rule may "
        "send, the email waits and uses no other account.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        f"{PATH}/test",
        Scope.PROJECT_READ,
        "Show which sender accounts an email would use.",
        test,
        request=TestRoute,
        response=Page[Candidate],
        tag=_TAG,
        example={"recipient": "ann@mx.example.com", "category": "marketing"},
        description="Of an email that names no account. Nothing is sent.",
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "DELETE",
        f"{PATH}/{{route_id}}",
        Scope.PROJECT_WRITE,
        "Remove a routing rule; its queued emails use the accounts of emails without a rule.",
        remove,
        status=HTTPStatus.NO_CONTENT,
        tag=_TAG,
        test_keys=ForTestKeys.REFUSED,
    ),
)
