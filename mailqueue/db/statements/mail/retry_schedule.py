"""The statements of sql/queries/mail/retry_schedule.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows

# Written by python -m tests.rules.constants --write

FIND_PROJECT_OF_RETRIES = MaybeRow.named("find_project_of_retries")
"""sql/queries/mail/retry_schedule.sql:3: The id of the project of that name."""
SET_RETRY_SCHEDULE = NoRows.named("set_retry_schedule")
"""sql/queries/mail/retry_schedule.sql:9: Set the retry schedule of a category of a project, '' for
every category without one of its own.
"""
DROP_RETRY_SCHEDULE = NoRows.named("drop_retry_schedule")
"""sql/queries/mail/retry_schedule.sql:18: Remove the retry schedule of a category, so that the
project's applies, or of the project, so that the default applies.
"""
LIST_RETRY_SCHEDULES = ManyRows.named("list_retry_schedules")
"""sql/queries/mail/retry_schedule.sql:25: The retry schedules of a project, that of all categories
first.
"""
