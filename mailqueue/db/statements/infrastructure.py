"""The statements of sql/queries/infrastructure.sql."""

from mailqueue.db.sql import ManyRows, OneRow

# Written by python -m tests.rules.constants --write

LIST_PARTITION_BOARD = ManyRows.named("list_partition_board")
"""sql/queries/infrastructure.sql:3: Monthly tables, oldest first."""
READ_DISK_BOARD = OneRow.named("read_disk_board")
"""sql/queries/infrastructure.sql:8: Size of the database, and its limit."""
LIST_SPACE_BOARD = ManyRows.named("list_space_board")
"""sql/queries/infrastructure.sql:13: Free space of the folders of PostgreSQL."""
LIST_SLOT_BOARD = ManyRows.named("list_slot_board")
"""sql/queries/infrastructure.sql:18: Replication slots, and the WAL that each keeps."""
LIST_TABLE_BOARD = ManyRows.named("list_table_board")
"""sql/queries/infrastructure.sql:23: The largest tables."""
LIST_TASK_BOARD = ManyRows.named("list_task_board")
"""sql/queries/infrastructure.sql:28: Maintenance tasks."""
READ_GAUGES = ManyRows.named("read_gauges")
"""sql/queries/infrastructure.sql:34: Figures for monitoring."""
