"""The statements of sql/queries/contacts/sends.sql."""

from mailqueue.db.sql import OneRow, OneValue

# Written by python -m tests.rules.constants --write

EXPAND_LIST = OneValue.named("expand_list")
"""sql/queries/contacts/sends.sql:3: Let workers send a content to the contacts of a list; the id of
the send.
"""
IS_LIST_OF = OneValue.named("is_list_of")
"""sql/queries/contacts/sends.sql:9: Whether the recipient of an email is the name of a list."""
ACCEPT_LIST_EMAIL = OneRow.named("accept_list_email")
"""sql/queries/contacts/sends.sql:13: Let workers send an email to the contacts of the list that is
its recipient.
"""
FIND_BATCH_OF_SEND = OneValue.named("find_batch_of_send")
"""sql/queries/contacts/sends.sql:18: The batch of a send to a list."""
COUNT_LIST = OneRow.named("count_list")
"""sql/queries/contacts/sends.sql:22: Count the contacts that mail to a list would go to."""
FIND_CONTACT_IDS = OneValue.named("find_contact_ids")
"""sql/queries/contacts/sends.sql:27: Ids of the contacts with these addresses."""
CONTINUE_LIST_SEND = OneValue.named("continue_list_send")
"""sql/queries/contacts/sends.sql:34: Make the next mail of a send; its state afterwards."""
