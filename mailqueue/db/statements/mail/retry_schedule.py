"""The statements of sql/queries/mail/retry_schedule.sql."""

from mailqueue.db.sql import ManyRows, NoRows

# Written by python -m tests.rules.constants --write

SET_RETRY_SCHEDULE = NoRows.named("set_retry_schedule")
"""sql/queries/mail/retry_schedule.sql:3: Set the retry schedule of a category of a project, '' for
every category without one of its own.
"""
DROP_RETRY_SCHEDULE = NoRows.named("drop_retry_schedule")
"""sql/queries/mail/retry_schedule.sql:12: Remove the retry schedule of a category, so that the
project's applies, or of the project, so that the default applies.
"""
LIST_RETRY_SCHEDULES = ManyRows.named("list_retry_schedules")
"""sql/queries/mail/retry_schedule.sql:19: The retry schedules of a project, that of all categories
first.
"""
