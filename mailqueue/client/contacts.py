"""Contacts and lists: requests of both clients."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from mailqueue.client import answers
from mailqueue.client.request import ApiRequest, new_key, path_part, sound
from mailqueue.producer.message import plain


def put(email: str, fields: Mapping[str, Any]) -> ApiRequest[answers.Contact]:
    return ApiRequest(
        "PUT", f"/v1/contacts/{path_part(email)}", answers.Contact, sound(plain(fields))
    )


def get(who: UUID | str) -> ApiRequest[answers.ContactDetail]:
    return ApiRequest("GET", f"/v1/contacts/{path_part(who)}", answers.ContactDetail)


def list_page(params: Mapping[str, Any]) -> ApiRequest[answers.Page[answers.Contact]]:
    return ApiRequest("GET", "/v1/contacts", answers.Page[answers.Contact], query=plain(params))


def remove(who: UUID | str) -> ApiRequest[answers.RemovedContact]:
    return ApiRequest("DELETE", f"/v1/contacts/{path_part(who)}", answers.RemovedContact)


def import_(file: bytes, params: Mapping[str, Any]) -> ApiRequest[answers.ImportedContacts]:
    """Return the import of a file, which takes effect once: a repeated line changes nothing."""
    return ApiRequest(
        "POST",
        "/v1/contacts/import",
        answers.ImportedContacts,
        query=plain(params),
        octets=file,
        content_type="application/octet-stream",
    )


def change_members(
    name: str, contacts: Sequence[UUID | str], *, is_added: bool
) -> ApiRequest[answers.ChangedMembers]:
    path = f"/v1/lists/{path_part(name)}/members" + ("" if is_added else "/remove")
    body = sound({"contacts": [str(one) for one in contacts]})
    return ApiRequest("POST", path, answers.ChangedMembers, body, key=new_key())


def count(name: str, category: str | None) -> ApiRequest[answers.ListCount]:
    path, query = f"/v1/lists/{path_part(name)}/count", plain({"category": category})
    return ApiRequest("GET", path, answers.ListCount, query=query)
