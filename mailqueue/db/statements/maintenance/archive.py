"""The statements of sql/queries/maintenance/archive.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneRow, OneValue

# Written by python -m tests.rules.constants --write

START_ARCHIVE = OneRow.named("start_archive")
"""sql/queries/maintenance/archive.sql:3: Record that a file of a project's month is about to be
written.
"""
FORGET_EMPTY_ARCHIVE = NoRows.named("forget_empty_archive")
"""sql/queries/maintenance/archive.sql:14: Delete the record of a file without rows."""
FIND_ARCHIVE = MaybeRow.named("find_archive")
"""sql/queries/maintenance/archive.sql:18: One file of the archive."""
LIST_ARCHIVES = ManyRows.named("list_archives")
"""sql/queries/maintenance/archive.sql:25: Files in these states, of a project, a month and a kind
or of all, oldest first.
"""
LIST_ARCHIVE_FILES = ManyRows.named("list_archive_files")
"""sql/queries/maintenance/archive.sql:37: Archive files as shown to people, of a project, a month
and a kind or of all, oldest first.
"""
LIST_UNFINISHED_ARCHIVES = ManyRows.named("list_unfinished_archives")
"""sql/queries/maintenance/archive.sql:48: Files whose records are leaving their table, and restored
ones whose time is over.
"""
IS_HELD_IN_TABLE = OneValue.named("is_held_in_table")
"""sql/queries/maintenance/archive.sql:57: Whether a file of that project, kind and month is leaving
its table or restored: no other file may be started.
"""
RECORD_WRITTEN = NoRows.named("record_written")
"""sql/queries/maintenance/archive.sql:63: Record that the file is complete in its store."""
RECORD_UNWRITTEN = NoRows.named("record_unwritten")
"""sql/queries/maintenance/archive.sql:71: Record that the file differs from what was written: it is
written again from the table, which still has everything.
"""
RECORD_VERIFIED = NoRows.named("record_verified")
"""sql/queries/maintenance/archive.sql:77: Record that the whole file was read back and verified;
its records may leave the table.
"""
RECORD_REMOVED = NoRows.named("record_removed")
"""sql/queries/maintenance/archive.sql:83: Record that that many records, from the first, have left
the table, some of them by another way.
"""
RECORD_ARCHIVED = NoRows.named("record_archived")
"""sql/queries/maintenance/archive.sql:89: Record that the table has none of the file's records any
more.
"""
RECORD_RESTORED = NoRows.named("record_restored")
"""sql/queries/maintenance/archive.sql:95: Record that all records of the file are in the table
again, for that long from now.
"""
END_RESTORED = NoRows.named("end_restored")
"""sql/queries/maintenance/archive.sql:101: Record that the time of restored records is over: they
may leave the table again.
"""
REPLACE_ARCHIVE_FILE = NoRows.named("replace_archive_file")
"""sql/queries/maintenance/archive.sql:107: Replace this file by another one; it is deleted next."""
LIST_LEFTOVERS = ManyRows.named("list_leftovers")
"""sql/queries/maintenance/archive.sql:116: Files that were replaced or purged and are still to be
deleted.
"""
FORGET_LEFTOVER = NoRows.named("forget_leftover")
"""sql/queries/maintenance/archive.sql:123: Record that a replaced file was deleted."""
LIST_COOLING_ARCHIVES = ManyRows.named("list_cooling_archives")
"""sql/queries/maintenance/archive.sql:129: Files old enough for cold storage."""
PURGE_ARCHIVES = ManyRows.named("purge_archives")
"""sql/queries/maintenance/archive.sql:139: Delete rows of files whose retention is over; the files
themselves are deleted next.
"""
LIST_RETENTION = ManyRows.named("list_retention")
"""sql/queries/maintenance/archive.sql:149: Retention of all kinds of records of each project."""
CHANGE_RETENTION = MaybeRow.named("change_retention")
"""sql/queries/maintenance/archive.sql:160: Set the days of one kind, for one project or for all
without a rule of their own; returns the previous rule.
"""
RESET_RETENTION = OneValue.named("reset_retention")
"""sql/queries/maintenance/archive.sql:165: Remove a project's own rule; false if it had none."""
