"""The statements of sql/queries/watch/installations.sql."""

from mailqueue.db.sql import MaybeRow, OneValue

# Written by python -m tests.rules.constants --write

BEGIN_SLACK_INSTALLATION = OneValue.named("begin_slack_installation")
"""sql/queries/watch/installations.sql:3: Time by which an installation has to end."""
TAKE_SLACK_INSTALLATION = MaybeRow.named("take_slack_installation")
"""sql/queries/watch/installations.sql:7: Whose installation a state is of, used once."""
END_SLACK_INSTALLATION = OneValue.named("end_slack_installation")
"""sql/queries/watch/installations.sql:12: Whether the person is connected."""
