"""The statements of sql/queries/privacy.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneRow, OneValue

# Written by python -m tests.rules.constants --write

BEGIN_ERASURE = OneValue.named("begin_erasure")
"""sql/queries/privacy.sql:3: Record that a person is to be erased, or find the erasure in progress.
"""
FIND_ERASURE = MaybeRow.named("find_erasure")
"""sql/queries/privacy.sql:7: Progress of an erasure."""
FIND_LAST_ERASURE = MaybeRow.named("find_last_erasure")
"""sql/queries/privacy.sql:14: The last erasure of a person in a project."""
LIST_UNFINISHED_ERASURES = ManyRows.named("list_unfinished_erasures")
"""sql/queries/privacy.sql:23: Erasures that are not complete."""
LEASE_ERASURE = OneValue.named("lease_erasure")
"""sql/queries/privacy.sql:27: Take or renew the lease of an erasure; false while another process
holds it.
"""
RELEASE_ERASURE = NoRows.named("release_erasure")
"""sql/queries/privacy.sql:31: Release the lease of an erasure."""
ERASE_MAIL = OneRow.named("erase_mail")
"""sql/queries/privacy.sql:35: Anonymise some mails; the number changed, and the number that workers
hold.
"""
ERASE_IDEMPOTENCY_KEYS = NoRows.named("erase_idempotency_keys")
"""sql/queries/privacy.sql:39: Delete idempotency keys of archived mail that contain the address,
and the fingerprints of others.
"""
LIST_PRIVACY_TABLES = ManyRows.named("list_privacy_tables")
"""sql/queries/privacy.sql:43: Tables that may name a person."""
ERASE_MENTIONS = OneRow.named("erase_mentions")
"""sql/queries/privacy.sql:47: Remove mentions of a person from some pages of tables; the number of
rows changed, and those of the contents that other persons received as well.
"""
READ_MENTIONS = ManyRows.named("read_mentions")
"""sql/queries/privacy.sql:54: Rows of some pages of a table that name a person, as JSON."""
READ_ALL_MENTIONS = ManyRows.named("read_all_mentions")
"""sql/queries/privacy.sql:59: Rows of some pages of a table that name a person, as JSON, with their
projects.
"""
FIND_PROJECTS_NAMING = ManyRows.named("find_projects_naming")
"""sql/queries/privacy.sql:64: Projects of rows of some pages of a table that name a person; the nil
id for those of none.
"""
COUNT_MENTIONS = OneValue.named("count_mentions")
"""sql/queries/privacy.sql:69: Number of rows of some pages of a table that name a person."""
ERASE_CONTENTS = ManyRows.named("erase_contents")
"""sql/queries/privacy.sql:74: Delete content that only one person received; locations of files
without other users.
"""
ERASE_ATTACHMENTS = ManyRows.named("erase_attachments")
"""sql/queries/privacy.sql:78: Delete files that no mail uses; their locations outside the database.
"""
MOVE_ERASURE = NoRows.named("move_erasure")
"""sql/queries/privacy.sql:82: Record the progress of an erasure."""
FIND_ADDRESS_OF_HASH = MaybeRow.named("find_address_of_hash")
"""sql/queries/privacy.sql:86: The address of a hash among all addresses of a project."""
HAS_ARCHIVES = OneValue.named("has_archives")
"""sql/queries/privacy.sql:90: Whether records of a project lie in files of the archive."""
READ_MAIL_OF_PERSON = ManyRows.named("read_mail_of_person")
"""sql/queries/privacy.sql:94: Mails to a person after one, as JSON."""
LIST_KNOWN_OF_PERSON = ManyRows.named("list_known_of_person")
"""sql/queries/privacy.sql:98: Current and past suppressions of a hash whose address is erased."""
LIST_PROJECTS_OF_ALL = ManyRows.named("list_projects_of_all")
"""sql/queries/privacy.sql:102: Projects that may have records of a person, deleted ones too."""
NOTE_EXPORT = NoRows.named("note_export")
"""sql/queries/privacy.sql:108: Write an audit row: the actor of the transaction exported what is
stored about a person.
"""
