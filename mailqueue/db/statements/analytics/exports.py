"""The statements of sql/queries/analytics/exports.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneRow, OneValue

# Written by python -m tests.rules.constants --write

BEGIN_EXPORT = OneValue.named("begin_export")
"""sql/queries/analytics/exports.sql:3: Begin an export; its id."""
DELETE_EXPORT = OneValue.named("delete_export")
"""sql/queries/analytics/exports.sql:9: Delete the file of an export; false if it is gone already.
"""
LIST_EXPORTS = ManyRows.named("list_exports")
"""sql/queries/analytics/exports.sql:13: Exports of a project or of all, newest first."""
FIND_EXPORT = MaybeRow.named("find_export")
"""sql/queries/analytics/exports.sql:31: One export, of a project if one is given."""
OFFERS_DATA = OneValue.named("offers_data")
"""sql/queries/analytics/exports.sql:46: Whether the recipient of an email may ask for what is
stored about them.
"""
ASK_FOR_DATA = OneValue.named("ask_for_data")
"""sql/queries/analytics/exports.sql:50: Let workers collect what is stored about a recipient, and
send the link: sent, again, stopped or none.
"""
FIND_EXPORT_OF_EMAIL = MaybeRow.named("find_export_of_email")
"""sql/queries/analytics/exports.sql:54: Id of the export that the link of an email leads to."""
READ_EXPORT_PAGE = OneRow.named("read_export_page")
"""sql/queries/analytics/exports.sql:58: The next page of an export, which stays locked; its state.
"""
WRITE_EXPORT_PART = NoRows.named("write_export_part")
"""sql/queries/analytics/exports.sql:63: Store a part of an export and the place up to which it
goes.
"""
END_EXPORT = NoRows.named("end_export")
"""sql/queries/analytics/exports.sql:68: Write the end of an export to the audit log."""
READ_EXPORT_PART = MaybeRow.named("read_export_part")
"""sql/queries/analytics/exports.sql:72: A part of the file of an export, compressed."""
NOTE_EXPORT_FETCHED = NoRows.named("note_export_fetched")
"""sql/queries/analytics/exports.sql:76: Record that the file of an export was fetched."""
