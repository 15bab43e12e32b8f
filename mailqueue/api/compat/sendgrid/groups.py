"""SendGrid's API: unsubscribe groups, which are categories of the preference centre.

Follows twilio.com/docs/sendgrid/api-reference/suppressions-unsubscribe-groups. The group with the
number 7 is the category `asm-7`; categories with other names are not shown here. A number is drawn,
so that the group of a removed one, whose suppressions stay, is not given to another.
"""

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any

from pydantic import Field
from starlette.responses import Response

from mailqueue.api.compat.model import suppression_endpoint
from mailqueue.api.compat.reading import query_of
from mailqueue.api.compat.sendgrid.faults import SendGridRefused, Wrong
from mailqueue.api.compat.sendgrid.suppressions import (
    MAX_NUMBER,
    RecipientEmails,
    body_of,
    category_of_path,
    no_content,
    refuse_subuser,
)
from mailqueue.api.compat.suppressed.lists import (
    find_address,
    listed_among,
    stream_in_categories,
)
from mailqueue.api.compat.suppressed.model import CHOSEN, SuppressedInCategory, SuppressedList
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel, StrictRequestModel
from mailqueue.contract.suppression import Category
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.suppression.acceptable import address_of
from mailqueue.suppression.subscriptions import categories
from mailqueue.webhooks.formats.sendgrid import GROUP

FIRST_NUMBER = 10_000
# As `category_of_path` writes it: `asm-007` is a category of another name.
_SLUG = re.compile(rf"{GROUP}(0|[1-9][0-9]{{0,9}})")
_Name = Annotated[StorableText, Field(min_length=1, max_length=100)]
_Description = Annotated[StorableText, Field(max_length=300)]


class GroupChange(StrictRequestModel):
    """The body of PATCH /v3/asm/groups/{group_id}; its clients may send the id along."""

    id: int | None = None
    name: _Name | None = None
    description: _Description | None = None
    is_default: bool | None = None


class NewGroup(StrictRequestModel):
    """The body of POST /v3/asm/groups."""

    name: _Name
    description: _Description | None = None
    is_default: bool | None = None


class GroupQuery(RequestModel):
    """The query of GET /v3/asm/groups; clients give several ids by repeating the parameter."""

    id: int | None = Field(default=None, ge=0, le=MAX_NUMBER)


@dataclass(frozen=True, slots=True)
class _Group:
    number: int
    category: Category

    def shown(self) -> dict[str, Any]:
        return {
            "id": self.number,
            "name": self.category.name,
            "description": self.category.description or "",
            "is_default": False,
        }


async def create(call: RequestContext) -> Response:
    """Add a group."""
    refuse_subuser(call.request)
    body = await body_of(call, NewGroup)
    _check_default(body.is_default)
    number = FIRST_NUMBER + secrets.randbelow(MAX_NUMBER - FIRST_NUMBER)
    fields = {"name": body.name, "description": body.description}
    async with call.connection() as conn:
        try:
            made = await categories.add(
                conn, call.caller.project, slug=f"{GROUP}{number}", fields=fields, by=call.by
            )
        except InvalidField as exc:
            raise exc.named("name" if exc.field == "slug" else exc.field) from exc
    return json_answer(_Group(number, made).shown(), status=HTTPStatus.CREATED)


async def index(call: RequestContext) -> Response:
    """List groups, or the one of an id."""
    refuse_subuser(call.request)
    query = query_of(call, GroupQuery)
    found = await _groups(call)
    return json_answer([one.shown() for one in found if query.id in (None, one.number)])


async def show(call: RequestContext) -> Response:
    """Show a group."""
    return json_answer((await _found(call)).shown())


async def change(call: RequestContext) -> Response:
    """Change a group; what is left out stays."""
    one = await _found(call)
    body = await body_of(call, GroupChange)
    _check_default(body.is_default)
    given = body.model_dump(include={"name", "description"}, exclude_none=True)
    async with call.connection() as conn:
        changed = await categories.change(
            conn, call.caller.project, slug=one.category.slug, fields=given, by=call.by
        )
    return json_answer(_Group(one.number, changed).shown(), status=HTTPStatus.CREATED)


async def remove(call: RequestContext) -> Response:
    """Remove a group; its suppressions stay."""
    one = await _found(call)
    async with call.connection() as conn:
        await categories.remove(conn, call.caller.project, slug=one.category.slug, by=call.by)
    return no_content()


async def search(call: RequestContext) -> Response:
    """Return those of some addresses that are suppressed for a group."""
    refuse_subuser(call.request)
    body = await body_of(call, RecipientEmails)
    emails = [one for place, one in enumerate(body.recipient_emails) if _checked(one, place)]
    wanted = SuppressedList(CHOSEN, (category_of_path(call),))
    found = await listed_among(call, wanted, emails)
    return json_answer([one for one in dict.fromkeys(emails) if one in found])


async def list_suppressed(call: RequestContext) -> Response:
    """List the suppressed addresses of all groups, newest first."""
    refuse_subuser(call.request)
    by_slug = {one.category.slug: one for one in await _groups(call)}

    def row(listed: SuppressedInCategory) -> dict[str, Any]:
        group = by_slug[listed.category]
        return {
            "email": listed.address,
            "group_id": group.number,
            "group_name": group.category.name,
            "created_at": int(listed.created_at.timestamp()),
        }

    return await stream_in_categories(call, SuppressedList(CHOSEN, tuple(by_slug)), row)


async def show_address(call: RequestContext) -> Response:
    """List all groups, and for which of them an address is suppressed."""
    refuse_subuser(call.request)
    found = await _groups(call)
    wanted = SuppressedList(CHOSEN, tuple(one.category.slug for one in found))
    listed = await find_address(call, wanted, call.path["email"])
    off = () if listed is None else listed.categories
    shown = [{**one.shown(), "suppressed": one.category.slug in off} for one in found]
    return json_answer({"suppressions": shown})


async def _groups(call: RequestContext) -> Sequence[_Group]:
    """Return the groups, in the order of the preference centre."""
    async with call.connection() as conn:
        found = await categories.list_(conn, call.caller.project)
    numbered = ((_SLUG.fullmatch(one.slug), one) for one in found)
    return [_Group(int(number[1]), one) for number, one in numbered if number is not None]


async def category_of_group(call: RequestContext, number: int, *, field: str) -> str:
    """Return the category of the group of a number.

    Raises:
        InvalidField: there is none.
    """
    slug = f"{GROUP}{number}"
    async with call.connection() as conn:
        try:
            await categories.get(conn, call.caller.project, slug=slug)
        except NotFound:
            raise InvalidField(field, "there is no such group") from None
    return slug


async def _found(call: RequestContext) -> _Group:
    """Return the group of the path.

    Raises:
        NotFound: there is none of the number.
    """
    refuse_subuser(call.request)
    slug = category_of_path(call)
    async with call.connection() as conn:
        try:
            one = await categories.get(conn, call.caller.project, slug=slug)
        except NotFound:
            raise NotFound("group", call.path["group_id"][:100]) from None
    return _Group(int(slug.removeprefix(GROUP)), one)


def _check_default(is_default: bool | None) -> None:
    if is_default:
        raise SendGridRefused([Wrong("there is no default group", "is_default")])


def _checked(email: str, place: int) -> bool:
    try:
        return bool(address_of(email))
    except InvalidField as exc:
        raise SendGridRefused([Wrong(exc.why, f"recipient_emails.{place}")]) from None


_GROUPS = "/v3/asm/groups"
_ONE = f"{_GROUPS}/{{group_id}}"
GROUP_ENDPOINTS = (
    suppression_endpoint("POST", _GROUPS, "Add an unsubscribe group.", create),
    suppression_endpoint("GET", _GROUPS, "List unsubscribe groups.", index),
    suppression_endpoint("GET", _ONE, "Show an unsubscribe group.", show),
    suppression_endpoint("PATCH", _ONE, "Change an unsubscribe group.", change),
    suppression_endpoint("DELETE", _ONE, "Remove an unsubscribe group.", remove),
    suppression_endpoint(
        "POST", f"{_ONE}/suppressions/search", "Find addresses in a group.", search
    ),
    suppression_endpoint(
        "GET", "/v3/asm/suppressions", "List addresses of all groups.", list_suppressed
    ),
    suppression_endpoint(
        "GET", "/v3/asm/suppressions/{email}", "Show an address in all groups.", show_address
    ),
)
