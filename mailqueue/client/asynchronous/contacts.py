"""Contacts and lists."""

from typing import Any
from uuid import UUID

from mailqueue.client import answers, contacts
from mailqueue.client.asynchronous.calls import AsyncCalls


class AsyncContacts(AsyncCalls):
    """Methods for contacts and lists."""

    async def put_contact(self, email: str, **fields: Any) -> answers.Contact:
        """Add the contact of an address, or change the given fields of it."""
        return await self._ask(contacts.put(email, fields))

    async def contact(self, contact: UUID | str) -> answers.ContactDetail:
        """Return a contact, by id or address, with its lists."""
        return await self._ask(contacts.get(contact))

    async def contacts(
        self,
        *,
        q: str | None = None,
        condition: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> answers.Page[answers.Contact]:
        """Return one page of contacts, newest first."""
        asked = {"q": q, "condition": condition, "limit": limit, "cursor": cursor}
        return await self._ask(contacts.list_page(asked))

    async def import_contacts(
        self, file: bytes, *, into_list: str | None = None, dry_run: bool = False
    ) -> answers.ImportedContacts:
        """Add or change the contacts of a file: CSV with a header, or JSON; at most 64 MiB.

        Invalid lines are in the answer and stop no others. It is not retried, and may be repeated.
        """
        asked = {"list": into_list, "dry_run": "true" if dry_run else None}
        return await self._ask(contacts.import_(file, asked))

    async def remove_contact(self, contact: UUID | str) -> answers.RemovedContact:
        """Remove a contact, and cancel what is pending for it."""
        return await self._ask(contacts.remove(contact))

    async def add_to_list(self, name: str, *contacts_: UUID | str) -> answers.ChangedMembers:
        """Add contacts, by id or address, to a list."""
        return await self._ask(contacts.change_members(name, contacts_, is_added=True))

    async def remove_from_list(self, name: str, *contacts_: UUID | str) -> answers.ChangedMembers:
        """Remove contacts, by id or address, from a list."""
        return await self._ask(contacts.change_members(name, contacts_, is_added=False))

    async def count_list(self, name: str, *, category: str | None = None) -> answers.ListCount:
        """Count the contacts that mail to a list would go to."""
        return await self._ask(contacts.count(name, category))
