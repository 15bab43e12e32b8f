"""Lists of contacts: add, change, remove; their members, and trying a condition."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from mailqueue.contacts import store
from mailqueue.contacts.contacts import id_of
from mailqueue.contacts.sends import store as sends_store
from mailqueue.contract.contacts import (
    ChangedMembers,
    ConditionTrial,
    Contact,
    ContactList,
    ListCount,
    MemberStatus,
)
from mailqueue.contract.page import Page
from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.core.mailboxes import with_wire_domain
from mailqueue.core.paging import cursor_of
from mailqueue.db.fetch import Conn

MAX_CHECKED = 10_000
"""Contacts of a list that are compared with the suppressions when it is counted."""
MAX_SIZE = 10_000
"""Contacts of a list that are counted for its size."""
MAX_EXAMPLES = 10
"""Contacts that the trial of a condition shows."""
MAX_MEMBERS = 1_000
"""Contacts that are added to a list, or removed, in one call."""


async def list_(conn: Conn, project_id: UUID) -> list[ContactList]:
    """Return the lists of a project by name."""
    return await store.list_lists(conn, project_id)


async def get(conn: Conn, project_id: UUID, name: str) -> ContactList:
    """Return one list.

    Raises:
        NotFound: there is no list of that name.
    """
    found = await store.list_lists(conn, project_id, name=name)
    if not found:
        raise NotFound("list", name[:100])
    return found[0]


async def find(conn: Conn, project_id: UUID, list_id: UUID) -> ContactList:
    """Return the list of an id.

    Raises:
        NotFound: there is no list of that id.
    """
    found = await store.list_lists(conn, project_id, list_id=list_id)
    if not found:
        raise NotFound("list", list_id)
    return found[0]


async def has_contact(conn: Conn, project_id: UUID, list_id: UUID, contact_id: UUID) -> bool:
    """Return whether a contact was added to a list, or is in it by its condition."""
    return await store.is_in_list(conn, project_id, list_id, contact_id)


async def add(
    conn: Conn, project_id: UUID, name: str, *, given: Mapping[str, Any], by: str
) -> ContactList:
    """Add a list.

    Raises:
        Conflict: there is a list of that name.
        InvalidField: a field is invalid.
    """
    made = await store.put_list(conn, project_id, name, given=given, must_be_new=True, by=by)
    if made is None:
        raise Conflict(f"list {name}")
    return made


async def change(
    conn: Conn, project_id: UUID, name: str, *, given: Mapping[str, Any], by: str
) -> ContactList:
    """Change the given fields of a list.

    Raises:
        NotFound: there is no list of that name.
        InvalidField: a field is invalid.
    """
    await get(conn, project_id, name)
    made = await store.put_list(conn, project_id, name, given=given, must_be_new=False, by=by)
    if made is None:
        raise NotFound("list", name[:100])
    return made


async def remove(conn: Conn, project_id: UUID, name: str, *, by: str) -> None:
    """Remove a list; its contacts stay.

    Raises:
        NotFound: there is no list of that name.
    """
    if not await store.remove_list(conn, project_id, name, by=by):
        raise NotFound("list", name[:100])


async def members(
    conn: Conn,
    project_id: UUID,
    name: str,
    *,
    status: MemberStatus = MemberStatus.ACTIVE,
    after: UUID | None,
    limit: int,
) -> Page[Contact]:
    """Return a part of the contacts of a list with a status, in the order of their ids.

    Raises:
        NotFound: there is no list of that name.
    """
    known = await get(conn, project_id, name)
    found = await store.list_members(
        conn, project_id, known.id, status=status, after=after, limit=limit + 1
    )
    page = found[:limit]
    return Page(page, cursor_of(page[-1].id) if len(found) > limit else None)


async def change_members(
    conn: Conn, project_id: UUID, name: str, who: Sequence[str], *, is_added: bool
) -> ChangedMembers:
    """Add contacts, by address or id, to a list, or remove them.

    Raises:
        NotFound: there is no list of that name.
        InvalidField: there is no such contact, or the list has a condition.
    """
    await get(conn, project_id, name)
    ids = await _ids_of(conn, project_id, who)
    count = await store.change_members(conn, project_id, name, ids, is_added=is_added)
    if count is None:
        raise NotFound("list", name[:100])
    return ChangedMembers(count)


async def count(conn: Conn, project_id: UUID, name: str, *, category: str) -> ListCount:
    """Return how many contacts mail to a list would go to.

    Raises:
        NotFound: there is no list of that name.
    """
    await get(conn, project_id, name)
    return await sends_store.count(
        conn, project_id, list_name=name, category=category, checked=MAX_CHECKED
    )


async def size(conn: Conn, project_id: UUID, list_id: UUID) -> int:
    """Return how many contacts are in a list and get mail to it; MAX_SIZE if there are more."""
    return await store.size_of_list(conn, project_id, list_id, most=MAX_SIZE)


async def sizes(conn: Conn, project_id: UUID, list_ids: Sequence[UUID]) -> list[int]:
    """Return how many contacts are in each list, as `size` counts them."""
    return await store.sizes_of_lists(conn, project_id, list_ids, most=MAX_SIZE)


async def of_contacts(
    conn: Conn, project_id: UUID, contact_ids: Sequence[UUID]
) -> dict[UUID, list[UUID]]:
    """Return the ids of the lists that contacts were added to; those in no list are left out."""
    found = await store.list_ids_of_contacts(conn, project_id, contact_ids)
    return {one.contact_id: one.list_ids for one in found}


async def try_condition(conn: Conn, project_id: UUID, condition: str) -> ConditionTrial:
    """Return how many contacts a condition selects, and some of them.

    Raises:
        InvalidField: field `condition`.
    """
    found = await store.try_condition(conn, project_id, condition, limit=MAX_EXAMPLES)
    examples = await store.list_by_id(conn, project_id, found.examples)
    return ConditionTrial(found.contacts, examples)


async def _ids_of(conn: Conn, project_id: UUID, who: Sequence[str]) -> list[UUID]:
    words = [with_wire_domain(one) for one in who]
    for place, word in enumerate(words):
        if "@" not in word and id_of(word) is None:
            raise InvalidField(
                f"contacts.{place}",
                f"must be an address or the id of a contact, got {word[:100]!r}",
            )
    found = await store.find_named(conn, project_id, words)
    ids = []
    for place, (word, contact_id) in enumerate(zip(words, found, strict=True)):
        if contact_id is None:
            raise InvalidField(
                f"contacts.{place}", f"there is no contact {word[:320]}: add it first"
            )
        ids.append(contact_id)
    return ids
