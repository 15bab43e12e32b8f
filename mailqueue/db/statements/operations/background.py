"""The statements of sql/queries/operations/background.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneRow, OneValue

# Written by python -m tests.rules.constants --write

BEGIN_BULK_OPERATION = OneValue.named("begin_bulk_operation")
"""sql/queries/operations/background.sql:3: Begin an operation; its id."""
STOP_BULK_OPERATION = OneValue.named("stop_bulk_operation")
"""sql/queries/operations/background.sql:8: Stop an operation; false if it is over, or stops
already.
"""
PREVIEW_BULK_OPERATION = OneRow.named("preview_bulk_operation")
"""sql/queries/operations/background.sql:14: Count the mails that an operation would change, with
the ids of some; changes nothing.
"""
LIST_OPERATION_EXAMPLES = ManyRows.named("list_operation_examples")
"""sql/queries/operations/background.sql:20: Mails by id, oldest first."""
LIST_BULK_OPERATIONS = ManyRows.named("list_bulk_operations")
"""sql/queries/operations/background.sql:27: Operations of a project or of all, newest first."""
FIND_BULK_OPERATION = MaybeRow.named("find_bulk_operation")
"""sql/queries/operations/background.sql:44: One operation, of a project if one is given."""
FIND_CAMPAIGN_CANCELLATION = MaybeRow.named("find_campaign_cancellation")
"""sql/queries/operations/background.sql:58: The newest operation of a project that cancels all mail
of a campaign, among its 10,000 newest operations.
"""
CONTINUE_BULK_OPERATION = OneValue.named("continue_bulk_operation")
"""sql/queries/operations/background.sql:80: Work on the next batch of an operation; its state
afterwards.
"""
END_BULK_OPERATION = NoRows.named("end_bulk_operation")
"""sql/queries/operations/background.sql:85: Write the end of an operation to the audit log."""
