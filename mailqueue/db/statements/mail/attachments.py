"""The statements of sql/queries/mail/attachments.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneValue

# Written by python -m tests.rules.constants --write

KEEP_UPLOAD = MaybeRow.named("keep_upload")
"""sql/queries/mail/attachments.sql:3: Store a file, or find it; no row if it has to be written to
its location first. Invalid input raises 22023.
"""
FILES_OF = ManyRows.named("files_of")
"""sql/queries/mail/attachments.sql:9: Bytes or locations of files of a project."""
SWEEP_STORED_FILES = OneValue.named("sweep_stored_files")
"""sql/queries/mail/attachments.sql:14: Delete rows of files in folders and buckets that are not
used and whose retention is over; returns their number.
"""
LIST_KNOWN_LOCATIONS = ManyRows.named("list_known_locations")
"""sql/queries/mail/attachments.sql:18: Those of these locations that a row refers to."""
LIST_STORED_FILES = ManyRows.named("list_stored_files")
"""sql/queries/mail/attachments.sql:24: Files in folders and buckets, a page at a time, in order of
their locations.
"""
LIST_PROJECT_IDS = ManyRows.named("list_project_ids")
"""sql/queries/mail/attachments.sql:33: Ids of all projects."""
LIST_LARGE_ATTACHMENTS = ManyRows.named("list_large_attachments")
"""sql/queries/mail/attachments.sql:39: Files in the database of at least that many bytes, a page at
a time, in order of their keys.
"""
READ_ATTACHMENT = MaybeRow.named("read_attachment")
"""sql/queries/mail/attachments.sql:49: The bytes of a file in the database."""
MOVE_ATTACHMENT_OUT = NoRows.named("move_attachment_out")
"""sql/queries/mail/attachments.sql:56: Store the location of a file in a folder or bucket, after it
was written and read back.
"""
