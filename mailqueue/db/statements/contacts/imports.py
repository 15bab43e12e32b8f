"""The statements of sql/queries/contacts/imports.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneRow, OneValue

# Written by python -m tests.rules.constants --write

BEGIN_IMPORT = OneValue.named("begin_import")
"""sql/queries/contacts/imports.sql:3: Begin an import; its id."""
ADD_IMPORT_PART = NoRows.named("add_import_part")
"""sql/queries/contacts/imports.sql:9: Add the next part of the file of an import, in the
transaction that begins it.
"""
LIST_IMPORTS = ManyRows.named("list_imports")
"""sql/queries/contacts/imports.sql:13: Imports of a project, newest first, without the lines that
were refused.
"""
FIND_IMPORT = MaybeRow.named("find_import")
"""sql/queries/contacts/imports.sql:26: One import of a project."""
CANCEL_IMPORT = MaybeRow.named("cancel_import")
"""sql/queries/contacts/imports.sql:37: Take no more lines of an import; its state before, if there
is one.
"""
OPEN_IMPORT = OneRow.named("open_import")
"""sql/queries/contacts/imports.sql:43: What its worker needs to know of an import."""
READ_IMPORT_PART = MaybeRow.named("read_import_part")
"""sql/queries/contacts/imports.sql:48: A part of the file of an import, compressed."""
TAKE_IMPORT_LINES = OneValue.named("take_import_lines")
"""sql/queries/contacts/imports.sql:52: Take the next lines of an import and count them; the state
of the import.
"""
END_IMPORT = NoRows.named("end_import")
"""sql/queries/contacts/imports.sql:57: Delete the file of an import and write its end to the audit
log.
"""
