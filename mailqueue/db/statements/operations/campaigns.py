"""The statements of sql/queries/operations/campaigns.sql."""

from mailqueue.db.sql import ManyRows

# Written by python -m tests.rules.constants --write

LIST_WAITING_CAMPAIGNS = ManyRows.named("list_waiting_campaigns")
"""sql/queries/operations/campaigns.sql:3: Queued and held emails of each campaign."""
