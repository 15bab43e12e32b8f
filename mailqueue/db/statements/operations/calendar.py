"""The statements of sql/queries/operations/calendar.sql."""

from mailqueue.db.sql import ManyRows

# Written by python -m tests.rules.constants --write

LIST_PLANNED_SCHEDULES = ManyRows.named("list_planned_schedules")
"""sql/queries/operations/calendar.sql:3: Active schedules that run before a time, the soonest
first.
"""
LIST_PLANNED_MAIL = ManyRows.named("list_planned_mail")
"""sql/queries/operations/calendar.sql:13: Timed events and steps of sequences by day."""
