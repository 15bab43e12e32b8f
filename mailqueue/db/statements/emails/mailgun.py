"""The statements of sql/queries/emails/mailgun.sql."""

from mailqueue.db.sql import MaybeRow

# Written by python -m tests.rules.constants --write

FIND_ALLOWED_FROM = MaybeRow.named("find_allowed_from")
"""sql/queries/emails/mailgun.sql:3: The From addresses a project allows (NULL: any), and its trap
account, if it has one.
"""
