"""The statements of sql/queries/senders/accounts.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneRow, OneValue

# Written by python -m tests.rules.constants --write

NEXT_SENDER_ID = OneValue.named("next_sender_id")
"""sql/queries/senders/accounts.sql:3: An id for a new account, known before its row so that its
password can be sealed for it.
"""
ADD_SENDER = NoRows.named("add_sender")
"""sql/queries/senders/accounts.sql:7: Add a sender account, active at once."""
FIND_SENDER = MaybeRow.named("find_sender")
"""sql/queries/senders/accounts.sql:20: One account of a project by its name."""
FIND_SENDER_BY_ID = MaybeRow.named("find_sender_by_id")
"""sql/queries/senders/accounts.sql:33: One account by its id."""
FIND_SENDER_ID = MaybeRow.named("find_sender_id")
"""sql/queries/senders/accounts.sql:45: The number of a project's account by its id in the HTTP API,
or by the number itself.
"""
LIST_SENDERS = ManyRows.named("list_senders")
"""sql/queries/senders/accounts.sql:53: The accounts of a project, or of all, in the order they are
tried.
"""
LOCK_SENDER = MaybeRow.named("lock_sender")
"""sql/queries/senders/accounts.sql:66: Lock an account until the caller commits, to serialise
changes.
"""
SET_SENDER_STATUS = NoRows.named("set_sender_status")
"""sql/queries/senders/accounts.sql:73: Set the status of an account, from the next claim on; until
a point in time or for a duration.
"""
SET_SENDER_LIMITS = NoRows.named("set_sender_limits")
"""sql/queries/senders/accounts.sql:81: Set the limits of an account, from the next claim on."""
SET_SENDER_FALLBACK = NoRows.named("set_sender_fallback")
"""sql/queries/senders/accounts.sql:96: Use an account only while no account before it may send, or
like any other.
"""
IS_TIME_ZONE = OneValue.named("is_time_zone")
"""sql/queries/senders/accounts.sql:102: Whether the database knows a time zone of this name."""
LIST_HEADROOM = ManyRows.named("list_headroom")
"""sql/queries/senders/accounts.sql:106: Mail that the named accounts sent today and may still send.
"""
READ_PROJECT_FROM = OneRow.named("read_project_from")
"""sql/queries/senders/accounts.sql:115: The From settings of a project."""
KEEP_TRAP_ACCOUNTS = NoRows.named("keep_trap_accounts")
"""sql/queries/senders/accounts.sql:121: Add the trap account to every project, or update it; it is
used by projects without another account.
"""
PAUSE_TRAP_ACCOUNTS = NoRows.named("pause_trap_accounts")
"""sql/queries/senders/accounts.sql:132: Pause the trap accounts: their mail waits, with that
reason.
"""
LIST_HEALTH = ManyRows.named("list_health")
"""sql/queries/senders/accounts.sql:138: State of the accounts of a project, or of all, or of one.
"""
CHANGE_SENDER = NoRows.named("change_sender")
"""sql/queries/senders/accounts.sql:148: Change an account, for mail that is claimed from now on."""
REMOVE_SENDER = OneValue.named("remove_sender")
"""sql/queries/senders/accounts.sql:166: Delete an account; false if there is none. Raises 55006
while it is in use.
"""
PREFER_SENDER = OneValue.named("prefer_sender")
"""sql/queries/senders/accounts.sql:170: Make an account the first that is tried; false if there is
none.
"""
ROUTE_TO_SENDER = NoRows.named("route_to_sender")
"""sql/queries/senders/accounts.sql:174: Use an account for mail of these categories to these
domains. Raises 22023 naming the field.
"""
NOTE_SENDER_CHANGE = NoRows.named("note_sender_change")
"""sql/queries/senders/accounts.sql:178: Write an audit row for a change of an account."""
