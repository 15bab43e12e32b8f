"""The statements of sql/queries/watch/whatsapp.sql."""

from mailqueue.db.sql import ManyRows, NoRows, OneValue

# Written by python -m tests.rules.constants --write

ADD_WHATSAPP_CHANNEL = OneValue.named("add_whatsapp_channel")
"""sql/queries/watch/whatsapp.sql:3: Whether the channel was added; false: the person has a
connected one of this type.
"""
RECONNECT_WHATSAPP_CHANNEL = OneValue.named("reconnect_whatsapp_channel")
"""sql/queries/watch/whatsapp.sql:7: Whether such a channel is connected."""
OPT_OUT_CHANNEL = OneValue.named("opt_out_channel")
"""sql/queries/watch/whatsapp.sql:11: Whether a channel was connected whose person wants no
messages.
"""
CLOSE_WHATSAPP_WINDOW = NoRows.named("close_whatsapp_window")
"""sql/queries/watch/whatsapp.sql:15: Send templates to a person until the next reply."""
FIND_WHATSAPP_CHANNELS = ManyRows.named("find_whatsapp_channels")
"""sql/queries/watch/whatsapp.sql:19: Channels that a reply is about."""
FIND_WHATSAPP_NOTIFICATION = ManyRows.named("find_whatsapp_notification")
"""sql/queries/watch/whatsapp.sql:24: The channel of a notification that is reported about."""
RECORD_RECEIPT = OneValue.named("record_receipt")
"""sql/queries/watch/whatsapp.sql:29: Whether what is reported of a message changes anything."""
SETTLE_RECEIPTS = NoRows.named("settle_receipts")
"""sql/queries/watch/whatsapp.sql:33: Bring a notification to the state that its provider reported.
"""
RECORD_WHATSAPP_REPLY = OneValue.named("record_whatsapp_reply")
"""sql/queries/watch/whatsapp.sql:37: What a reply of a person means for a channel."""
