"""The statements of sql/queries/operations/services.sql."""

from mailqueue.db.sql import ManyRows, NoRows

# Written by python -m tests.rules.constants --write

KEEP_SERVICES = NoRows.named("keep_services")
"""sql/queries/operations/services.sql:3: Write the heartbeat of the listeners of a process; without
any, it has ended.
"""
LIST_SERVICES = ManyRows.named("list_services")
"""sql/queries/operations/services.sql:7: Each service and how many processes run it."""
