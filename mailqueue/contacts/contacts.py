"""Contacts: add, list, show, change, put, remove."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from mailqueue.contacts import store
from mailqueue.contacts.model import ContactFilter
from mailqueue.contract.contacts import Contact, ContactDetail, RemovedContact
from mailqueue.contract.page import Page
from mailqueue.contract.value import named
from mailqueue.core.errors import Conflict, NotFound
from mailqueue.core.mailboxes import with_wire_domain
from mailqueue.core.paging import cursor_of
from mailqueue.db.fetch import Conn


async def add(conn: Conn, project_id: UUID, given: Mapping[str, Any]) -> Contact:
    """Add a contact.

    Raises:
        Conflict: there is a contact of this address.
        InvalidField: a field is invalid.
    """
    made = await store.put(conn, project_id, None, given=_sent(given), must_be_new=True)
    if made is None:
        raise Conflict("contact of this address: change it instead")
    return made


async def list_page(
    conn: Conn, project_id: UUID, *, filters: ContactFilter, before: UUID | None, limit: int
) -> Page[Contact]:
    """Return a part of the contacts, newest first.

    Raises:
        InvalidField: field `condition`.
    """
    found = await store.list_page(conn, project_id, filters=filters, before=before, limit=limit + 1)
    page = found[:limit]
    return Page(page, cursor_of(page[-1].id) if len(found) > limit else None)


async def list_newer(
    conn: Conn, project_id: UUID, *, newer_than: UUID, limit: int
) -> list[Contact]:
    """Return the next newer contacts after one, oldest first."""
    return await store.list_newer(conn, project_id, newer_than=newer_than, limit=limit)


async def find(conn: Conn, project_id: UUID, who: str) -> Contact:
    """Return the contact of an address or an id.

    Raises:
        NotFound: there is no such contact.
    """
    found = None
    if "@" in who:
        found = await store.find(conn, project_id, email=with_wire_domain(who))
    elif (contact_id := id_of(who)) is not None:
        found = await store.find(conn, project_id, contact_id=contact_id)
    if found is None:
        raise NotFound("contact", who[:320])
    return found


async def are_known(conn: Conn, project_id: UUID, emails: Sequence[str]) -> list[bool]:
    """Return for each address whether there is a contact of it."""
    found = await store.find_named(conn, project_id, [with_wire_domain(one) for one in emails])
    return [one is not None for one in found]


async def named_by(conn: Conn, project_id: UUID, words: Sequence[str]) -> list[Contact | None]:
    """Return the contact of each address or id, in order; None where there is none."""
    ids = await store.find_named(conn, project_id, [with_wire_domain(one) for one in words])
    found = await store.list_by_id(conn, project_id, [one for one in ids if one is not None])
    by_id = {one.id: one for one in found}
    return [None if one is None else by_id.get(one) for one in ids]


async def count(conn: Conn, project_id: UUID) -> int:
    """Return the number of contacts of a project."""
    return await store.count(conn, project_id)


async def show(conn: Conn, project_id: UUID, who: str) -> ContactDetail:
    """Return a contact with the lists that it was added to.

    Raises:
        NotFound: there is no such contact.
    """
    found = await find(conn, project_id, who)
    lists = await store.list_memberships(conn, project_id, found.id)
    return ContactDetail(**named(found), lists=lists)


async def change(conn: Conn, project_id: UUID, who: str, given: Mapping[str, Any]) -> Contact:
    """Change the given fields of a contact; one that is None is removed.

    Raises:
        NotFound: there is no such contact.
        InvalidField: a field is invalid.
    """
    found = await find(conn, project_id, who)
    made = await store.put(conn, project_id, found.id, given=_sent(given), must_be_new=False)
    if made is None:  # removed a moment ago
        raise NotFound("contact", who[:320])
    return made


async def put(conn: Conn, project_id: UUID, email: str, given: Mapping[str, Any]) -> Contact:
    """Add the contact of an address, or change its given fields; an id changes that contact.

    Raises:
        NotFound: there is no contact of the id.
        InvalidField: a field is invalid.
    """
    if "@" not in email:
        return await change(conn, project_id, email, given)
    fields_ = _sent({**given, "email": email})
    made = await store.put(conn, project_id, None, given=fields_, must_be_new=None)
    assert made is not None, "it is added where there is none"
    return made


async def remove(conn: Conn, project_id: UUID, who: str) -> RemovedContact:
    """Remove a contact, and end all that is pending for it.

    Raises:
        NotFound: there is no such contact.
    """
    found = await find(conn, project_id, who)
    cancelled = await store.remove(conn, project_id, found.id)
    if cancelled is None:
        raise NotFound("contact", who[:320])
    return RemovedContact(found.id, found.email, cancelled)


def id_of(text: str) -> UUID | None:
    """Return the UUID of a text; None if it is none. Pure."""
    try:
        return UUID(text)
    except ValueError:
        return None


def _sent(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields with the domain of the address as it goes on the wire. Pure."""
    found = dict(given)
    if isinstance(email := found.get("email"), str):
        found["email"] = with_wire_domain(email)
    return found
