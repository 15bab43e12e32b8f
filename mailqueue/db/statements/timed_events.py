"""The statements of sql/queries/timed_events.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneRow, OneValue

# Written by python -m tests.rules.constants --write

FIRE_TIMED_EVENTS = ManyRows.named("fire_timed_events")
"""sql/queries/timed_events.sql:3: Write the mail and webhook calls of claimed events."""
PLAN_BIRTHDAYS = OneValue.named("plan_birthdays")
"""sql/queries/timed_events.sql:8: Plan birthdays of contacts whose rule or zone has changed."""
RECOMPUTE_TIMED_EVENTS = OneValue.named("recompute_timed_events")
"""sql/queries/timed_events.sql:12: Compute events by the present zone rules."""
END_DELIVERED_TIMED_EVENTS = MaybeRow.named("end_delivered_timed_events")
"""sql/queries/timed_events.sql:16: End events whose delivery has ended."""
LIST_TIMED_EVENTS = ManyRows.named("list_timed_events")
"""sql/queries/timed_events.sql:20: Events of a project, newest first."""
LIST_TIMED_EVENTS_OF_STATUS = ManyRows.named("list_timed_events_of_status")
"""sql/queries/timed_events.sql:41: Events of a project that have a status, newest first."""
ADD_TIMED_EVENT = OneRow.named("add_timed_event")
"""sql/queries/timed_events.sql:61: Add an event, or find the one with its idempotency key."""
CHANGE_TIMED_EVENT = OneValue.named("change_timed_event")
"""sql/queries/timed_events.sql:68: Whether there is such an event; its time or payload is changed.
"""
CANCEL_TIMED_EVENT = OneValue.named("cancel_timed_event")
"""sql/queries/timed_events.sql:72: Whether there is such an event; it is cancelled."""
FIND_BIRTHDAY_RULE = MaybeRow.named("find_birthday_rule")
"""sql/queries/timed_events.sql:76: The birthday rule of a project."""
PUT_BIRTHDAY_RULE = NoRows.named("put_birthday_rule")
"""sql/queries/timed_events.sql:85: Set the birthday rule of a project."""
REMOVE_BIRTHDAY_RULE = OneValue.named("remove_birthday_rule")
"""sql/queries/timed_events.sql:90: Whether the project had a birthday rule."""
