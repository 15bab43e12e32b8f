"""The statements of sql/queries/contacts/contacts.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, OneValue

# Written by python -m tests.rules.constants --write

FIND_CONTACT = MaybeRow.named("find_contact")
"""sql/queries/contacts/contacts.sql:3: The contact of an id or an address."""
LIST_CONTACTS = ManyRows.named("list_contacts")
"""sql/queries/contacts/contacts.sql:12: Contacts before one, newest first."""
LIST_NEWER_CONTACTS = ManyRows.named("list_newer_contacts")
"""sql/queries/contacts/contacts.sql:28: Contacts after one, oldest first."""
LIST_CONTACTS_BY_ID = ManyRows.named("list_contacts_by_id")
"""sql/queries/contacts/contacts.sql:39: Contacts with these ids, in their order."""
COUNT_CONTACTS = OneValue.named("count_contacts")
"""sql/queries/contacts/contacts.sql:48: The number of contacts."""
CHECK_CONTACT_CONDITION = MaybeRow.named("check_contact_condition")
"""sql/queries/contacts/contacts.sql:55: A condition; raises 22023 for an invalid one."""
LIST_MEMBERSHIPS = ManyRows.named("list_memberships")
"""sql/queries/contacts/contacts.sql:59: Lists that a contact was added to, by name."""
PUT_CONTACT = MaybeRow.named("put_contact")
"""sql/queries/contacts/contacts.sql:67: Add or change a contact; none if there is none of the id,
or it must be new and exists. Raises 22023 naming the field.
"""
REMOVE_CONTACT = MaybeRow.named("remove_contact")
"""sql/queries/contacts/contacts.sql:74: Remove a contact; the number of mails that were cancelled,
null if there is none.
"""
IMPORT_CONTACTS = ManyRows.named("import_contacts")
"""sql/queries/contacts/contacts.sql:78: Add or change contacts, a line each."""
