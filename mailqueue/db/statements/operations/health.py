"""The statements of sql/queries/operations/health.sql."""

from mailqueue.db.sql import ManyRows, NoRows, OneRow, OneValue

# Written by python -m tests.rules.constants --write

READ_HEALTH = ManyRows.named("read_health")
"""sql/queries/operations/health.sql:3: Every check that SQL can make: its state, its result, and
the fix if one is needed.
"""
FIND_DATA_DIRECTORY = OneRow.named("find_data_directory")
"""sql/queries/operations/health.sql:8: Server process of this session and data directory; NULL
without the right to see them.
"""
REPORT_SPACE = OneRow.named("report_space")
"""sql/queries/operations/health.sql:13: Report free space of the server's disks; returns the bounds
of refusing mail.
"""
MAY_TELL_HEALTH = OneValue.named("may_tell_health")
"""sql/queries/operations/health.sql:18: Whether this login may report space and store the result of
comparing the books.
"""
NOTE_BOOKS = NoRows.named("note_books")
"""sql/queries/operations/health.sql:23: Store the result of comparing the books."""
ESTIMATE_EMAIL_COUNT = OneValue.named("estimate_email_count")
"""sql/queries/operations/health.sql:27: Estimated number of mails, from statistics."""
MAY_READ_RETENTION = OneValue.named("may_read_retention")
"""sql/queries/operations/health.sql:31: Whether this login may look through the tables that have a
retention.
"""
LIST_KINDS_PAST_RETENTION = ManyRows.named("list_kinds_past_retention")
"""sql/queries/operations/health.sql:35: Kinds with rows that are older than their retention by some
days, and the oldest seen; reads so many pages of each.
"""
READ_REPORT_SOURCE = OneRow.named("read_report_source")
"""sql/queries/operations/health.sql:39: The server that reports come from: its first project, and
the time up to which its counts are complete.
"""
