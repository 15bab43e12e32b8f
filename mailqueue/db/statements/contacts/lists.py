"""The statements of sql/queries/contacts/lists.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, OneRow, OneValue

# Written by python -m tests.rules.constants --write

LIST_CONTACT_LISTS = ManyRows.named("list_contact_lists")
"""sql/queries/contacts/lists.sql:3: Lists of a project by name, or the one of that name or id."""
PUT_CONTACT_LIST = MaybeRow.named("put_contact_list")
"""sql/queries/contacts/lists.sql:12: Add or change a list; none if it must be new and exists, or
the reverse. Raises 22023 naming the field.
"""
REMOVE_CONTACT_LIST = OneValue.named("remove_contact_list")
"""sql/queries/contacts/lists.sql:18: Remove a list; false if there is none."""
ADD_LIST_MEMBERS = MaybeRow.named("add_list_members")
"""sql/queries/contacts/lists.sql:22: Add contacts to a list; the number that were not in it, null
if there is no such list.
"""
REMOVE_LIST_MEMBERS = MaybeRow.named("remove_list_members")
"""sql/queries/contacts/lists.sql:26: Remove contacts from a list; the number that were in it, null
if there is no such list.
"""
LIST_LIST_MEMBERS = ManyRows.named("list_list_members")
"""sql/queries/contacts/lists.sql:30: Contacts of a list after one, in the order of ids."""
LIST_PENDING_MEMBERS = ManyRows.named("list_pending_members")
"""sql/queries/contacts/lists.sql:36: Contacts after one that were added to a list and have not
confirmed, in the order of ids.
"""
SIZE_OF_LIST = OneValue.named("size_of_list")
"""sql/queries/contacts/lists.sql:47: The number of contacts of a list, counted up to a limit."""
SIZES_OF_LISTS = ManyRows.named("sizes_of_lists")
"""sql/queries/contacts/lists.sql:52: The number of contacts of each list, in order, counted up to a
limit.
"""
LIST_IDS_OF_CONTACTS = ManyRows.named("list_ids_of_contacts")
"""sql/queries/contacts/lists.sql:59: Ids of the lists that contacts were added to, by contact."""
IS_IN_LIST = OneValue.named("is_in_list")
"""sql/queries/contacts/lists.sql:66: Whether a contact is in a list: it was added, even if it has
not confirmed that, or it satisfies the condition.
"""
TRY_LIST_CONDITION = OneRow.named("try_list_condition")
"""sql/queries/contacts/lists.sql:77: How many contacts a condition selects, and the ids of some."""
FIND_CONTACTS_NAMED = ManyRows.named("find_contacts_named")
"""sql/queries/contacts/lists.sql:82: The id of the contact of each address or id, in order; null:
there is none.
"""
FIND_ASKED_MEMBERSHIP = OneRow.named("find_asked_membership")
"""sql/queries/contacts/lists.sql:92: The list that a mail asked to confirm, and its state; nulls:
there is none.
"""
CONFIRM_MEMBERSHIP = OneValue.named("confirm_membership")
"""sql/queries/contacts/lists.sql:96: Confirm what a mail asked for; false where there is nothing to
confirm.
"""
