"""The statements of sql/queries/mail/raw.sql."""

from mailqueue.db.sql import ManyRows

# Written by python -m tests.rules.constants --write

ACCEPT_RAW = ManyRows.named("accept_raw")
"""sql/queries/mail/raw.sql:3: Accept finished messages in the caller's transaction, all or none; a
row for each in order. Invalid input raises 22023, a key that is no longer valid MQ004.
"""
