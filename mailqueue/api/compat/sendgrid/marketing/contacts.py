"""SendGrid's API: contacts of the project.

Follows twilio.com/docs/sendgrid/api-reference/contacts. What SendGrid does after its answer is done
before ours, all of it or nothing; the number of a job that its clients read is of no job.
"""

from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from mailqueue.api.compat.model import contact_endpoint
from mailqueue.api.compat.reading import query_of
from mailqueue.api.compat.sendgrid.marketing.answers import counted, job_answer
from mailqueue.api.compat.sendgrid.marketing.contact_model import (
    ContactAddresses,
    ContactIdentifiers,
    ContactIds,
    Ids,
    PutContacts,
    SendGridContact,
    shown,
)
from mailqueue.api.compat.sendgrid.marketing.lists import list_of
from mailqueue.api.compat.sendgrid.suppressions import body_of, refuse_subuser
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.contacts import contacts, lists
from mailqueue.contacts.importing import put_all
from mailqueue.contacts.model import ContactFilter
from mailqueue.contract.contacts import Contact
from mailqueue.core.errors import InvalidField, NotFound

MAX_BODY_BYTES = 6 * 1024 * 1024
MAX_LISTED = 50
"""Contacts that a list of contacts shows."""


class RemovedContactsQuery(RequestModel):
    """The query of DELETE /v3/marketing/contacts."""

    ids: Ids | None = None
    delete_all_contacts: bool = False


async def put(call: RequestContext) -> Response:
    """Add contacts, or change those of their addresses, and add them to lists."""
    refuse_subuser(call.request)
    body = await body_of(call, PutContacts, max_bytes=MAX_BODY_BYTES)
    wanted = await call.in_turn(lambda: _fields(body.contacts))
    project_id = call.caller.project_id
    async with call.in_one_transaction() as conn:
        chosen = [await list_of(call, one) for one in dict.fromkeys(body.list_ids)]
        try:
            await put_all(conn, project_id, wanted, list_name=None)
            for one in chosen:
                await lists.change_members(
                    conn, project_id, one.name, [each["email"] for each in wanted], is_added=True
                )
        except InvalidField as exc:
            raise exc.named(exc.field.replace("members.", "contacts.", 1)) from exc
    return job_answer()


async def index(call: RequestContext) -> Response:
    """List the newest contacts, and count all."""
    refuse_subuser(call.request)
    project_id = call.caller.project_id
    async with call.connection() as conn:
        page = await contacts.list_page(
            conn, project_id, filters=ContactFilter(), before=None, limit=MAX_LISTED
        )
        total = await contacts.count(conn, project_id)
    return json_answer({"result": await _all_shown(call, page.data), "contact_count": total})


async def count(call: RequestContext) -> Response:
    """Count contacts."""
    refuse_subuser(call.request)
    async with call.connection() as conn:
        return json_answer(counted(await contacts.count(conn, call.caller.project_id)))


async def show(call: RequestContext) -> Response:
    """Show a contact."""
    refuse_subuser(call.request)
    contact_id = call.id("contact_id")
    async with call.connection() as conn:
        one = await contacts.find(conn, call.caller.project_id, str(contact_id))
    (document,) = await _all_shown(call, [one])
    return json_answer(document)


async def show_many(call: RequestContext) -> Response:
    """Show the contacts of some ids; ids of none are left out."""
    refuse_subuser(call.request)
    body = await body_of(call, ContactIds)
    async with call.connection() as conn:
        found = await contacts.named_by(
            conn, call.caller.project_id, [str(one) for one in dict.fromkeys(body.ids)]
        )
    return json_answer({"result": await _all_shown(call, [one for one in found if one])})


async def search_addresses(call: RequestContext) -> Response:
    """Show the contacts of some addresses.

    Raises:
        NotFound: there is none of them.
    """
    refuse_subuser(call.request)
    body = await body_of(call, ContactAddresses)
    return await _sought(call, "emails", body.emails)


async def search_identifiers(call: RequestContext) -> Response:
    """Show the contacts of some identifiers: of addresses alone, as others are attributes here.

    Raises:
        NotFound: there is none of them.
    """
    refuse_subuser(call.request)
    body = await body_of(call, ContactIdentifiers)
    if call.path["identifier_type"].lower() != "email":
        raise InvalidField("identifier_type", "is email here: other identifiers are attributes")
    return await _sought(call, "identifiers", body.identifiers)


async def _sought(call: RequestContext, field: str, given: Sequence[str]) -> Response:
    for place, one in enumerate(given):
        if "@" not in one:
            raise InvalidField(f"{field}.{place}", "an address is needed")
    emails = list(dict.fromkeys(given))
    async with call.connection() as conn:
        found = await contacts.named_by(conn, call.caller.project_id, emails)
    documents = iter(await _all_shown(call, [one for one in found if one]))
    result = {
        email: {"error": "contact not found"} if one is None else {"contact": next(documents)}
        for email, one in zip(emails, found, strict=True)
    }
    if not any(found):
        raise NotFound("contact", ", ".join(emails)[:320])
    return json_answer({"result": result})


async def remove(call: RequestContext) -> Response:
    """Remove contacts, and cancel what is pending for them; ids of none are passed over."""
    refuse_subuser(call.request)
    query = query_of(call, RemovedContactsQuery)
    if query.delete_all_contacts:
        raise InvalidField("delete_all_contacts", "is not supported: name the contacts in ids")
    if query.ids is None:
        raise InvalidField("ids", "ids of contacts are needed, separated by commas")
    project_id = call.caller.project_id
    async with call.in_one_transaction() as conn:
        words = [str(one) for one in dict.fromkeys(query.ids)]
        for one in await contacts.named_by(conn, project_id, words):
            if one is not None:
                await contacts.remove(conn, project_id, str(one.id))
    return job_answer()


def _fields(given: Sequence[SendGridContact]) -> list[dict[str, Any]]:
    found = []
    for place, one in enumerate(given):
        try:
            found.append(one.fields())
        except InvalidField as exc:
            raise exc.named(f"contacts.{place}.{exc.field}") from None
    return found


async def _all_shown(call: RequestContext, found: Sequence[Contact]) -> list[dict[str, Any]]:
    async with call.connection() as conn:
        ids = await lists.of_contacts(conn, call.caller.project_id, [one.id for one in found])
    return [shown(one, ids.get(one.id, ())) for one in found]


_PATH = "/v3/marketing/contacts"
CONTACT_ENDPOINTS = (
    contact_endpoint("PUT", _PATH, "Add or change up to 1,000 contacts.", put),
    contact_endpoint("GET", _PATH, "List the newest contacts.", index),
    contact_endpoint("DELETE", _PATH, "Remove contacts.", remove),
    contact_endpoint("GET", f"{_PATH}/count", "Count contacts.", count),
    contact_endpoint(
        "POST", f"{_PATH}/batch", "Show the contacts of some ids.", show_many, is_reading=True
    ),
    contact_endpoint(
        "POST",
        f"{_PATH}/search/emails",
        "Show the contacts of some addresses.",
        search_addresses,
        is_reading=True,
    ),
    contact_endpoint(
        "POST",
        f"{_PATH}/search/identifiers/{{identifier_type}}",
        "Show the contacts of some identifiers.",
        search_identifiers,
        is_reading=True,
    ),
    contact_endpoint("GET", f"{_PATH}/{{contact_id}}", "Show a contact.", show),
)
