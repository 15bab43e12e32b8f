"""The statements of sql/queries/watch/buttons.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneRow, OneValue

# Written by python -m tests.rules.constants --write

LIST_MUTED_SENDERS = ManyRows.named("list_muted_senders")
"""sql/queries/watch/buttons.sql:3: Muted senders of a project in the order they were muted, of one
person or with the id.
"""
MUTE_SENDER = MaybeRow.named("mute_sender")
"""sql/queries/watch/buttons.sql:14: Id of a sender who is muted now; none where that is so already.
"""
UNMUTE_SENDER = OneValue.named("unmute_sender")
"""sql/queries/watch/buttons.sql:18: Whether there was such a muted sender."""
SET_SLACK_SIGNING = NoRows.named("set_slack_signing")
"""sql/queries/watch/buttons.sql:22: Note the signing secret of the app of a channel."""
FIND_SLACK_NOTIFICATION = MaybeRow.named("find_slack_notification")
"""sql/queries/watch/buttons.sql:26: The connected channel of a notification, and whose secret signs
requests about it.
"""
PRESS_SLACK_BUTTON = OneRow.named("press_slack_button")
"""sql/queries/watch/buttons.sql:31: What pressing a button below a notification did."""
