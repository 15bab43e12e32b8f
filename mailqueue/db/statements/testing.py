"""The statements of sql/queries/testing.sql."""

from mailqueue.db.sql import MaybeRow, OneValue

# Written by python -m tests.rules.constants --write

HAS_MAIL_OR_ACCOUNTS = OneValue.named("has_mail_or_accounts")
"""sql/queries/testing.sql:3: Whether there is anything that a test database does not have before
its first test.
"""
HAS_SENDER_ACCOUNT_NAMED = OneValue.named("has_sender_account_named")
"""sql/queries/testing.sql:8: Whether some project has a sender account of that name."""
NEXT_UNSENT = MaybeRow.named("next_unsent")
"""sql/queries/testing.sql:12: The first email that is due or being sent, why it waits, and how many
there are.
"""
