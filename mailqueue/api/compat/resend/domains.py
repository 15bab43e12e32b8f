"""Resend's API: domains, which are those that the project has DKIM keys of.

Follows resend.com/docs/api-reference/domains. The id of a domain is that of its oldest key; a
domain whose keys are all revoked is gone. Keys that were added elsewhere are shown too.
"""

from typing import Any

from pydantic import Field
from starlette.responses import Response

from mailqueue.api.compat.domains import (
    add_domain,
    domains_of,
    is_verified,
    look_up_domain,
    remove_domain,
)
from mailqueue.api.compat.model import domain_endpoint
from mailqueue.api.compat.resend.pages import ListPage, body_of, list_answer, page_of, page_query
from mailqueue.api.compat.resend.views import stamp
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.contract.domains import DkimKeyStatus
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.domains.model import DkimKey
from mailqueue.projects import manage

REGION = "us-east-1"


class NewDomain(RequestModel):
    """The body of POST /domains; `region` has no effect."""

    name: StorableText = Field(min_length=1, max_length=300)
    region: StorableText = REGION


class DomainChange(RequestModel):
    """The body of PATCH /domains/{domain_id}."""

    id: StorableText | None = None  # sent along by its clients; the path counts
    open_tracking: bool | None = None
    click_tracking: bool | None = None


async def create(call: RequestContext) -> Response:
    """Add a domain: a DKIM key, pending until its record is in DNS."""
    body = await body_of(call, NewDomain)
    try:
        found = await add_domain(call, body.name)
    except InvalidField as exc:
        raise exc.named("name" if exc.field == "domain" else exc.field) from exc
    return json_answer(_shown(found), status=201)


async def index(call: RequestContext) -> Response:
    """List domains, newest first."""
    query = page_query(call, ListPage)
    found = list(reversed(await domains_of(call)))
    page, has_more = page_of(found, query, lambda each: each[0].id)
    return list_answer([_listed(each) for each in page], has_more)


async def show(call: RequestContext) -> Response:
    """Show a domain with the records to publish."""
    return json_answer({"object": "domain", **_shown(await _found(call))})


async def change(call: RequestContext) -> Response:
    """Confirm the tracking of a domain, which is a setting of the project.

    Raises:
        InvalidField: a field asks for something else: only administrators change projects.
    """
    body = await body_of(call, DomainChange)
    found = await _found(call)
    async with call.connection() as conn:
        project = await manage.find(conn, call.caller.project)
    now = {"open_tracking": project.track_opens, "click_tracking": project.track_clicks}
    for field, is_tracked in now.items():
        if getattr(body, field) not in (None, is_tracked):
            word = "true" if is_tracked else "false"
            raise InvalidField(field, f"is {word} here; administrators change projects")
    return json_answer({"object": "domain", "id": found[0].id})


async def verify(call: RequestContext) -> Response:
    """Look up the records of a domain now; a key whose record is found signs from then on."""
    found = await _found(call)
    await look_up_domain(call, found)
    return json_answer({"object": "domain", "id": found[0].id})


async def remove(call: RequestContext) -> Response:
    """Remove a domain: its keys are revoked."""
    found = await _found(call)
    await remove_domain(call, found)
    return json_answer({"object": "domain", "id": found[0].id, "deleted": True})


async def _found(call: RequestContext) -> list[DkimKey]:
    """Return the keys of the domain of the path.

    Raises:
        NotFound: the project has no such domain.
    """
    domain_id = call.id("domain_id")
    for found in await domains_of(call):
        if any(one.id == domain_id for one in found):
            return found
    raise NotFound("domain", domain_id)


def _listed(found: list[DkimKey]) -> dict[str, Any]:
    return {
        "id": found[0].id,
        "name": found[0].domain,
        "status": "verified" if is_verified(found) else "pending",
        "created_at": stamp(found[0].created_at),
        "region": REGION,
    }


def _shown(found: list[DkimKey]) -> dict[str, Any]:
    return {**_listed(found), "records": [_record(one) for one in found]}


def _record(one: DkimKey) -> dict[str, Any]:
    return {
        "record": "DKIM",
        "name": one.name,
        "type": "TXT",
        "ttl": "Auto",
        "status": "verified" if one.status is DkimKeyStatus.ACTIVE else "pending",
        "value": one.text,
    }


_ONE = "/domains/{domain_id}"
DOMAIN_ENDPOINTS = (
    domain_endpoint("POST", "/domains", "Add a domain.", create),
    domain_endpoint("GET", "/domains", "List domains.", index),
    domain_endpoint("GET", _ONE, "Show a domain and its records.", show),
    domain_endpoint("PATCH", _ONE, "Confirm the tracking of a domain.", change),
    domain_endpoint("POST", f"{_ONE}/verify", "Look up the records of a domain.", verify),
    domain_endpoint("DELETE", _ONE, "Remove a domain.", remove),
)
