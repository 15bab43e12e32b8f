"""The statements of sql/queries/inbox.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, OneValue

# Written by python -m tests.rules.constants --write

LIST_EVENT_RULES = ManyRows.named("list_event_rules")
"""sql/queries/inbox.sql:3: The rules of a project by name, or the one of a name."""
PUT_EVENT_RULE = MaybeRow.named("put_event_rule")
"""sql/queries/inbox.sql:12: A rule after it was added or changed; none where it must be new and
exists, or must exist and does not.
"""
REMOVE_EVENT_RULE = OneValue.named("remove_event_rule")
"""sql/queries/inbox.sql:18: Whether there was such a rule."""
TRY_EVENT_RULE = MaybeRow.named("try_event_rule")
"""sql/queries/inbox.sql:22: What a rule would do with a payload; none without such a rule."""
CONSUME_EVENT = OneValue.named("consume_event")
"""sql/queries/inbox.sql:26: What became of an event, delivered for the first time or again."""
LIST_INBOX = ManyRows.named("list_inbox")
"""sql/queries/inbox.sql:31: Events of a project, newest first, with what each rule did."""
FIND_INBOX_EVENT = ManyRows.named("find_inbox_event")
"""sql/queries/inbox.sql:49: The event of a message, once for each consumer, with payload, headers
and what each rule did.
"""
REPLAY_INBOX = OneValue.named("replay_inbox")
"""sql/queries/inbox.sql:63: Counts of one page of events to which today's rules were applied."""
