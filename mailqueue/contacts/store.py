"""SQL of contacts and lists."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.contacts.model import ContactFilter
from mailqueue.contract.contacts import Contact, ContactList, Membership, MemberStatus
from mailqueue.db.fetch import Conn, many, maybe, one, value
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.contacts import contacts as sql
from mailqueue.db.statements.contacts import lists as lists_sql


class ImportedLine(NamedTuple):
    """Result of one line: added, changed, unchanged, or bad with the reason."""

    line: int
    outcome: str
    reason: str | None


class Selected(NamedTuple):
    """Number of contacts that a condition selects, and the ids of some."""

    contacts: int
    examples: list[UUID]


class ListsOfContact(NamedTuple):
    """The lists that a contact was added to."""

    contact_id: UUID
    list_ids: list[UUID]


class AskedRow(NamedTuple):
    """A list that a mail asked to confirm, and its state; None: there is none."""

    list: str | None
    state: str | None


async def find(
    conn: Conn, project_id: UUID, *, contact_id: UUID | None = None, email: str | None = None
) -> Contact | None:
    """Return the contact of an id, or of an address in any spelling."""
    asked = {"project_id": project_id, "id": contact_id, "email": email}
    return await maybe(conn, sql.FIND_CONTACT, asked, Contact)


async def list_page(
    conn: Conn, project_id: UUID, *, filters: ContactFilter, before: UUID | None, limit: int
) -> list[Contact]:
    """Return contacts before one, newest first.

    Raises:
        InvalidField: field `condition`.
    """
    asked = {
        "project_id": project_id,
        "before": before,
        "limit": limit,
        "having": filters.having,
        "language": filters.language,
        "time_zone": filters.time_zone,
        "condition": filters.condition,
    }
    with refusals():
        await maybe(conn, sql.CHECK_CONTACT_CONDITION, {"condition": filters.condition}, str)
    return await many(conn, sql.LIST_CONTACTS, asked, Contact)


async def list_newer(
    conn: Conn, project_id: UUID, *, newer_than: UUID, limit: int
) -> list[Contact]:
    """Return contacts after one, oldest first."""
    asked = {"project_id": project_id, "newer_than": newer_than, "limit": limit}
    return await many(conn, sql.LIST_NEWER_CONTACTS, asked, Contact)


async def list_by_id(conn: Conn, project_id: UUID, ids: Sequence[UUID]) -> list[Contact]:
    """Return contacts with these ids, in their order."""
    return await many(
        conn, sql.LIST_CONTACTS_BY_ID, {"project_id": project_id, "ids": list(ids)}, Contact
    )


async def count(conn: Conn, project_id: UUID) -> int:
    """Return the number of contacts of a project."""
    return await value(conn, sql.COUNT_CONTACTS, {"project_id": project_id}, int)


async def list_memberships(conn: Conn, project_id: UUID, contact_id: UUID) -> list[Membership]:
    """Return the lists that a contact was added to, by name."""
    asked = {"project_id": project_id, "id": contact_id}
    return await many(conn, sql.LIST_MEMBERSHIPS, asked, Membership)


async def put(
    conn: Conn,
    project_id: UUID,
    contact_id: UUID | None,
    *,
    given: Mapping[str, Any],
    must_be_new: bool | None,
) -> Contact | None:
    """Add or change a contact; None where there is none of the id, or it must be new and exists.

    Raises:
        InvalidField: a field is invalid.
        ProjectFull: the project may have no more contacts.
    """
    asked = {
        "project_id": project_id,
        "id": contact_id,
        "given": Jsonb(given),
        "must_be_new": must_be_new,
    }
    with refusals(otherwise="contact"):
        async with conn.transaction():
            return await maybe(conn, sql.PUT_CONTACT, asked, Contact)


async def remove(conn: Conn, project_id: UUID, contact_id: UUID) -> int | None:
    """Remove a contact; return how many mails were cancelled, None where there is none."""
    asked = {"project_id": project_id, "id": contact_id}
    async with conn.transaction():
        return await maybe(conn, sql.REMOVE_CONTACT, asked, int)


async def import_lines(
    conn: Conn,
    project_id: UUID,
    lines: Sequence[tuple[int, Mapping[str, Any]]],
    *,
    list_name: str | None,
) -> list[ImportedLine]:
    """Add or change contacts, each by its address; return the result of each line.

    Raises:
        InvalidField: there is no such list, or it takes no members.
        ProjectFull: the project may have no more contacts.
    """
    asked = {
        "project_id": project_id,
        "lines": Jsonb([{"line": number, "fields": fields} for number, fields in lines]),
        "list": list_name,
    }
    with refusals():
        async with conn.transaction():
            return await many(conn, sql.IMPORT_CONTACTS, asked, ImportedLine)


async def list_lists(
    conn: Conn, project_id: UUID, *, name: str | None = None, list_id: UUID | None = None
) -> list[ContactList]:
    """Return the lists of a project by name, or the one of the name or the id."""
    asked = {"project_id": project_id, "name": name, "id": list_id}
    return await many(conn, lists_sql.LIST_CONTACT_LISTS, asked, ContactList)


async def put_list(
    conn: Conn, project_id: UUID, name: str, *, given: Mapping[str, Any], must_be_new: bool, by: str
) -> ContactList | None:
    """Add or change a list; None where it must be new and exists, or the reverse.

    Raises:
        InvalidField: a field is invalid.
    """
    asked = {
        "project_id": project_id,
        "name": name,
        "given": Jsonb(given),
        "must_be_new": must_be_new,
        "by": by,
    }
    with refusals(otherwise="list"):
        async with conn.transaction():
            return await maybe(conn, lists_sql.PUT_CONTACT_LIST, asked, ContactList)


async def remove_list(conn: Conn, project_id: UUID, name: str, *, by: str) -> bool:
    """Remove a list; return whether there was one."""
    asked = {"project_id": project_id, "name": name, "by": by}
    async with conn.transaction():
        return await value(conn, lists_sql.REMOVE_CONTACT_LIST, asked, bool)


async def change_members(
    conn: Conn, project_id: UUID, name: str, ids: Sequence[UUID], *, is_added: bool
) -> int | None:
    """Add contacts to a list or remove them; return how many changed, None for no such list.

    Raises:
        InvalidField: the list has a condition.
    """
    statement = lists_sql.ADD_LIST_MEMBERS if is_added else lists_sql.REMOVE_LIST_MEMBERS
    asked = {"project_id": project_id, "name": name, "ids": list(ids)}
    with refusals():
        async with conn.transaction():
            return await maybe(conn, statement, asked, int)


async def list_members(
    conn: Conn,
    project_id: UUID,
    list_id: UUID,
    *,
    status: MemberStatus = MemberStatus.ACTIVE,
    after: UUID | None,
    limit: int,
) -> list[Contact]:
    """Return contacts of a list after one, in the order of their ids."""
    is_pending = status is MemberStatus.PENDING
    statement = lists_sql.LIST_PENDING_MEMBERS if is_pending else lists_sql.LIST_LIST_MEMBERS
    asked = {"project_id": project_id, "list_id": list_id, "after": after, "limit": limit}
    return await many(conn, statement, asked, Contact)


async def size_of_list(conn: Conn, project_id: UUID, list_id: UUID, *, most: int) -> int:
    """Return the number of contacts of a list, counted up to `most`."""
    asked = {"project_id": project_id, "list_id": list_id, "most": most}
    return await value(conn, lists_sql.SIZE_OF_LIST, asked, int)


async def sizes_of_lists(
    conn: Conn, project_id: UUID, list_ids: Sequence[UUID], *, most: int
) -> list[int]:
    """Return the number of contacts of each list, counted up to `most`."""
    asked = {"project_id": project_id, "list_ids": list(list_ids), "most": most}
    return await many(conn, lists_sql.SIZES_OF_LISTS, asked, int)


async def list_ids_of_contacts(
    conn: Conn, project_id: UUID, contact_ids: Sequence[UUID]
) -> list[ListsOfContact]:
    """Return the lists of contacts that are in some."""
    asked = {"project_id": project_id, "ids": list(contact_ids)}
    return await many(conn, lists_sql.LIST_IDS_OF_CONTACTS, asked, ListsOfContact)


async def is_in_list(conn: Conn, project_id: UUID, list_id: UUID, contact_id: UUID) -> bool:
    """Return whether a contact is in a list."""
    asked = {"project_id": project_id, "list_id": list_id, "id": contact_id}
    return await value(conn, lists_sql.IS_IN_LIST, asked, bool)


async def try_condition(conn: Conn, project_id: UUID, condition: str, *, limit: int) -> Selected:
    """Return how many contacts a condition selects, and the ids of some.

    Raises:
        InvalidField: field `condition`.
    """
    asked = {"project_id": project_id, "condition": condition, "limit": limit}
    with refusals(otherwise="condition"):
        return await one(conn, lists_sql.TRY_LIST_CONDITION, asked, Selected)


async def find_named(conn: Conn, project_id: UUID, words: Sequence[str]) -> list[UUID | None]:
    """Return the id of the contact of each address or id, in order; None where there is none."""
    asked = {"project_id": project_id, "words": list(words)}
    return await many(conn, lists_sql.FIND_CONTACTS_NAMED, asked, UUID)


async def find_asked(conn: Conn, project_id: UUID, email_id: UUID) -> AskedRow:
    """Return the list that a mail asked to confirm, and its state."""
    asked = {"project_id": project_id, "email_id": email_id}
    return await one(conn, lists_sql.FIND_ASKED_MEMBERSHIP, asked, AskedRow)


async def confirm(
    conn: Conn,
    project_id: UUID,
    email_id: UUID,
    *,
    wording: str,
    agent: str | None,
    network: str | None,
) -> bool:
    """Confirm what a mail asked for; return whether there was something to confirm."""
    asked = {
        "project_id": project_id,
        "email_id": email_id,
        "wording": wording,
        "agent": agent,
        "network": network,
    }
    return await value(conn, lists_sql.CONFIRM_MEMBERSHIP, asked, bool)
