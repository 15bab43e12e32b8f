"""The statements of sql/queries/audit.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneRow, OneValue

# Written by python -m tests.rules.constants --write

LIST_AUDIT = ManyRows.named("list_audit")
"""sql/queries/audit.sql:3: Audit rows of one project, or of all and the installation, newest first,
a page before the given number.
"""
AUDIT_LOOKED_UNTIL = MaybeRow.named("audit_looked_until")
"""sql/queries/audit.sql:10: Id of the last row that list_audit looks at; NULL where it looks at
all.
"""
FIND_AUDIT_EVENT = MaybeRow.named("find_audit_event")
"""sql/queries/audit.sql:15: An audit row of a project, or of any project or the installation."""
FIND_SEALED_ROW = MaybeRow.named("find_sealed_row")
"""sql/queries/audit.sql:20: A row of the audit log with its newest seal, as list_seals_and_rows
returns them.
"""
FIND_LAST_SEAL = MaybeRow.named("find_last_seal")
"""sql/queries/audit.sql:41: The newest seal."""
FIND_NEWEST_AUDIT_ROW = MaybeRow.named("find_newest_audit_row")
"""sql/queries/audit.sql:50: Id of the newest committed row of the audit log."""
HAS_AUDIT_WRITERS = OneValue.named("has_audit_writers")
"""sql/queries/audit.sql:57: Whether another transaction has added rows to the audit log that may
not be committed yet. Its ids were taken after it locked the table.
"""
LIST_ROWS_TO_SEAL = ManyRows.named("list_rows_to_seal")
"""sql/queries/audit.sql:72: Some rows of the audit log without a seal, in the order of ids."""
LIST_AUDIT_CHANGES = ManyRows.named("list_audit_changes")
"""sql/queries/audit.sql:82: Some permitted changes of sealed rows, oldest first, with the rows and
their newest seals, of one snapshot.
"""
FIND_SEAL = OneRow.named("find_seal")
"""sql/queries/audit.sql:98: A seal by its position."""
ADD_AUDIT_SEALS = NoRows.named("add_audit_seals")
"""sql/queries/audit.sql:106: Insert seals."""
FORGET_AUDIT_CHANGES = NoRows.named("forget_audit_changes")
"""sql/queries/audit.sql:116: Delete changes that are sealed."""
FIND_AUDIT_CUT = MaybeRow.named("find_audit_cut")
"""sql/queries/audit.sql:121: The position up to which seals are of rows past their retention, some
seals at a time; missing rows are not.
"""
CUT_AUDIT = OneValue.named("cut_audit")
"""sql/queries/audit.sql:140: Delete rows past their retention with their seals, up to a position;
returns the number of rows.
"""
RECORD_AUDIT_CUT = NoRows.named("record_audit_cut")
"""sql/queries/audit.sql:145: Write an audit row for rows that retention deleted."""
UTC_NOW = OneValue.named("utc_now")
"""sql/queries/audit.sql:151: Time of the database in UTC."""
MAY_READ_AUDIT_SEALS = OneValue.named("may_read_audit_seals")
"""sql/queries/audit.sql:155: Whether this login may read the audit log, its seals and their keys.
"""
MAY_VERIFY_AUDIT = OneValue.named("may_verify_audit")
"""sql/queries/audit.sql:163: Whether this login may read what the audit log is verified by."""
LIST_SEALS_AND_ROWS = ManyRows.named("list_seals_and_rows")
"""sql/queries/audit.sql:168: Seals in their order with their rows, up to a position, or (NULL) all
seals and then the rows without a seal; as JSON, of one snapshot, without being collected first.
"""
