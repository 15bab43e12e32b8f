"""The statements of sql/queries/events/events.sql."""

from mailqueue.db.sql import ManyRows, NoRows, OneValue

# Written by python -m tests.rules.constants --write

RECORD_EVENTS = ManyRows.named("record_events")
"""sql/queries/events/events.sql:3: Record events with all consequences; returns the result of each,
in order.
"""
LIST_EVENTS = ManyRows.named("list_events")
"""sql/queries/events/events.sql:9: Events, the latest recorded first, after one of them; filtered
by mail, type or project.
"""
LIST_RECIPIENT_EVENTS = ManyRows.named("list_recipient_events")
"""sql/queries/events/events.sql:24: All events of a project's mail to one address, newest first,
after one of them.
"""
LIST_NOTICES = ManyRows.named("list_notices")
"""sql/queries/events/events.sql:29: Notices for administrators of projects, newest first."""
SEE_NOTICES = OneValue.named("see_notices")
"""sql/queries/events/events.sql:40: Mark the notices of a project, or of all, as seen; returns the
number of new ones.
"""
LIST_SENDER_RATES = ManyRows.named("list_sender_rates")
"""sql/queries/events/events.sql:44: Mail that accounts sent within the window of rates, with
bounces and complaints.
"""
SET_SENDER_THRESHOLDS = NoRows.named("set_sender_thresholds")
"""sql/queries/events/events.sql:56: Set the rates above which an account is warned and paused."""
NOTE_SENDER_THRESHOLDS = NoRows.named("note_sender_thresholds")
"""sql/queries/events/events.sql:66: Write an audit row for a change of an account's thresholds."""
