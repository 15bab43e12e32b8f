"""SendGrid's API: lists of contacts that are added one by one.

Follows twilio.com/docs/sendgrid/api-reference/lists. Lists whose contacts a condition selects are
not among them.
"""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from pydantic import Field
from starlette.responses import Response

from mailqueue.api.compat.model import contact_endpoint
from mailqueue.api.compat.named_lists import NameOfList, add_named, name_of, rename
from mailqueue.api.compat.reading import query_of
from mailqueue.api.compat.sendgrid.marketing.answers import counted, job_answer
from mailqueue.api.compat.sendgrid.marketing.contact_model import Ids
from mailqueue.api.compat.sendgrid.marketing.named import (
    MAX_LISTED,
    all_of,
    check_free,
    find_of,
    sample_of,
)
from mailqueue.api.compat.sendgrid.suppressions import body_of, no_content, refuse_subuser
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.origin import origin_of
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.contacts import lists
from mailqueue.contract.contacts import ContactList
from mailqueue.core.errors import InvalidField

_PATH = "/v3/marketing/lists"


class NamedList(RequestModel):
    """The body of POST /v3/marketing/lists, and of PATCH for one of them."""

    name: NameOfList


class MarketingListsQuery(RequestModel):
    """The query of GET /v3/marketing/lists; `page_token` is the id of the last one before."""

    page_size: int = Field(default=MAX_LISTED, ge=1, le=1_000)
    page_token: UUID | None = None


class MarketingListQuery(RequestModel):
    """The query of GET /v3/marketing/lists/{list_id}."""

    contact_sample: bool = False


class RemovedListQuery(RequestModel):
    """The query of DELETE /v3/marketing/lists/{list_id}."""

    delete_contacts: bool = False


class RemovedMembersQuery(RequestModel):
    """The query of DELETE /v3/marketing/lists/{list_id}/contacts."""

    contact_ids: Ids


async def create(call: RequestContext) -> Response:
    """Add a list; each has a name of its own."""
    refuse_subuser(call.request)
    body = await body_of(call, NamedList)
    async with call.in_one_transaction():
        await check_free(call, body.name, is_segment=False)
        made = await add_named(call, body.name, otherwise="list")
        (document,) = await _all_shown(call, [made])
    return json_answer(document, status=HTTPStatus.CREATED)


async def index(call: RequestContext) -> Response:
    """List lists, newest first."""
    refuse_subuser(call.request)
    query = query_of(call, MarketingListsQuery)
    found = await all_of(call, is_segment=False)
    ids = [one.id for one in found]
    if query.page_token is not None:
        if query.page_token not in ids:
            raise InvalidField("page_token", "there is no such page")
        found = found[ids.index(query.page_token) + 1 :]
    page = found[: min(query.page_size, MAX_LISTED)]
    links = {"self": _url(call, ""), "count": len(ids)}
    if len(found) > len(page):
        after = urlencode({"page_size": query.page_size, "page_token": page[-1].id})
        links["next"] = f"{_url(call, '')}?{after}"
    return json_answer({"result": await _all_shown(call, page), "_metadata": links})


async def show(call: RequestContext) -> Response:
    """Show a list, with some of its contacts where that is asked for."""
    refuse_subuser(call.request)
    query = query_of(call, MarketingListQuery)
    one = await list_of(call, call.id("list_id"))
    (document,) = await _all_shown(call, [one])
    if query.contact_sample:
        async with call.connection() as conn:
            document["contact_sample"] = await sample_of(call, one, conn)
    return json_answer(document)


async def change(call: RequestContext) -> Response:
    """Rename a list."""
    refuse_subuser(call.request)
    await list_of(call, call.id("list_id"))  # what is not there is said first
    body = await body_of(call, NamedList)
    async with call.in_one_transaction():
        one = await list_of(call, call.id("list_id"))
        if body.name != name_of(one):
            await check_free(call, body.name, is_segment=False)
        (document,) = await _all_shown(call, [await rename(call, one, body.name)])
    return json_answer(document)


async def remove(call: RequestContext) -> Response:
    """Remove a list; its contacts stay."""
    refuse_subuser(call.request)
    query = query_of(call, RemovedListQuery)
    if query.delete_contacts:
        why = "is not supported: remove the contacts by their ids"
        raise InvalidField("delete_contacts", why)
    one = await list_of(call, call.id("list_id"))
    async with call.connection() as conn:
        await lists.remove(conn, call.caller.project_id, one.name, by=call.by)
    return no_content()


async def count(call: RequestContext) -> Response:
    """Count the contacts of a list, up to 10,000."""
    refuse_subuser(call.request)
    one = await list_of(call, call.id("list_id"))
    async with call.connection() as conn:
        return json_answer(counted(await lists.size(conn, call.caller.project_id, one.id)))


async def remove_members(call: RequestContext) -> Response:
    """Remove contacts from a list; they stay contacts."""
    refuse_subuser(call.request)
    one = await list_of(call, call.id("list_id"))
    query = query_of(call, RemovedMembersQuery)
    words = [str(each) for each in dict.fromkeys(query.contact_ids)]
    async with call.connection() as conn:
        try:
            await lists.change_members(
                conn, call.caller.project_id, one.name, words, is_added=False
            )
        except InvalidField as exc:
            raise exc.named("contact_ids") from exc
    return job_answer()


async def list_of(call: RequestContext, list_id: UUID) -> ContactList:
    """Return a list.

    Raises:
        NotFound: the project has no such list, or a condition selects its contacts.
    """
    return await find_of(call, list_id, is_segment=False)


async def _all_shown(call: RequestContext, found: Sequence[ContactList]) -> list[dict[str, Any]]:
    async with call.connection() as conn:
        sizes = await lists.sizes(conn, call.caller.project_id, [one.id for one in found])
    return [
        {
            "id": one.id,
            "name": name_of(one),
            "contact_count": size,
            "_metadata": {"self": _url(call, f"/{one.id}")},
        }
        for one, size in zip(found, sizes, strict=True)
    ]


def _url(call: RequestContext, path: str) -> str:
    origin = origin_of(call.request.scope, call.settings.tracking.public_url)
    return f"{origin}{_PATH}{path}"


_ONE = f"{_PATH}/{{list_id}}"
LIST_ENDPOINTS = (
    contact_endpoint("POST", _PATH, "Add a list.", create),
    contact_endpoint("GET", _PATH, "List lists.", index),
    contact_endpoint("GET", _ONE, "Show a list.", show),
    contact_endpoint("PATCH", _ONE, "Rename a list.", change),
    contact_endpoint("DELETE", _ONE, "Remove a list.", remove),
    contact_endpoint("GET", f"{_ONE}/contacts/count", "Count the contacts of a list.", count),
    contact_endpoint("DELETE", f"{_ONE}/contacts", "Remove contacts from a list.", remove_members),
)
