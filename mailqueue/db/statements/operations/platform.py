"""The statements of sql/queries/operations/platform.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, OneRow, OneValue

# Written by python -m tests.rules.constants --write

FIND_PLATFORM_PAUSE = MaybeRow.named("find_platform_pause")
"""sql/queries/operations/platform.sql:3: The pause of all sending that is in force."""
PAUSE_PLATFORM = OneValue.named("pause_platform")
"""sql/queries/operations/platform.sql:9: Pause all sending; the number of the operation."""
RESUME_PLATFORM = OneValue.named("resume_platform")
"""sql/queries/operations/platform.sql:14: End the pause of all sending; false if there was none."""
COUNT_WAITING = OneRow.named("count_waiting")
"""sql/queries/operations/platform.sql:18: Number of queued emails that a pause would stop, of the
first 100,000.
"""
DRAIN_WORKERS = ManyRows.named("drain_workers")
"""sql/queries/operations/platform.sql:23: Let workers claim nothing more, or claim again; ids of
those that were changed.
"""
