"""The statements of sql/queries/watch.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneValue

# Written by python -m tests.rules.constants --write

LIST_INBOX_USERS = ManyRows.named("list_inbox_users")
"""sql/queries/watch.sql:3: Persons of a project in the order they were added, or the one with the
id.
"""
ADD_INBOX_USER = MaybeRow.named("add_inbox_user")
"""sql/queries/watch.sql:14: Id of a person who was added; none where the project has one with this
address.
"""
PAUSE_INBOX_USER = OneValue.named("pause_inbox_user")
"""sql/queries/watch.sql:18: Whether there is such a person."""
REMOVE_INBOX_USER = OneValue.named("remove_inbox_user")
"""sql/queries/watch.sql:22: Whether there was such a person."""
LIST_FILTER_RULES = ManyRows.named("list_filter_rules")
"""sql/queries/watch.sql:26: Rules of a project in the order they were added, of one person or with
the id.
"""
PUT_FILTER_RULE = MaybeRow.named("put_filter_rule")
"""sql/queries/watch.sql:37: Id of a rule that was added or changed; none where there is no such
rule.
"""
REMOVE_FILTER_RULE = OneValue.named("remove_filter_rule")
"""sql/queries/watch.sql:42: Whether there was such a rule."""
LIST_INBOXES = ManyRows.named("list_inboxes")
"""sql/queries/watch.sql:46: Inboxes of a project in the order they were added, of one person or
with the id.
"""
ADD_MAILBOX = OneValue.named("add_mailbox")
"""sql/queries/watch.sql:59: Whether the inbox was added; false: the person has it already."""
SWITCH_MAILBOX = OneValue.named("switch_mailbox")
"""sql/queries/watch.sql:65: What became of an inbox that was paused, resumed or is to be scanned
now.
"""
RECONNECT_MAILBOX = OneValue.named("reconnect_mailbox")
"""sql/queries/watch.sql:69: Whether there is such an inbox."""
REMOVE_MAILBOX = OneValue.named("remove_mailbox")
"""sql/queries/watch.sql:73: Whether there was such an inbox."""
BEGIN_INBOX_CONSENT = OneValue.named("begin_inbox_consent")
"""sql/queries/watch.sql:77: When the state ends with which the owner of an inbox is sent to Google.
"""
TAKE_INBOX_CONSENT = MaybeRow.named("take_inbox_consent")
"""sql/queries/watch.sql:82: What a state was begun for, which is used up by this."""
FIND_INBOX_OF_ADDRESS = MaybeRow.named("find_inbox_of_address")
"""sql/queries/watch.sql:87: Id of a person's inbox of an address."""
CONNECT_GMAIL = OneValue.named("connect_gmail")
"""sql/queries/watch.sql:94: Whether the inbox is watched; false: the person has another of this
address.
"""
LIST_GMAIL_TOKENS = ManyRows.named("list_gmail_tokens")
"""sql/queries/watch.sql:99: Sealed refresh tokens of an inbox, or of all inboxes of a person, whose
address is not watched for another.
"""
IS_GMAIL_WATCHED = OneValue.named("is_gmail_watched")
"""sql/queries/watch.sql:104: Whether an inbox at Gmail is watched for some person of some project.
"""
NOTE_INBOX_CONSENT = NoRows.named("note_inbox_consent")
"""sql/queries/watch.sql:108: Write to the audit log what became of a consent."""
LIST_NOTIFICATION_CHANNELS = ManyRows.named("list_notification_channels")
"""sql/queries/watch.sql:112: Channels of a project in the order they were added, of one person or
with the id.
"""
ADD_NOTIFICATION_CHANNEL = OneValue.named("add_notification_channel")
"""sql/queries/watch.sql:126: Whether the channel was added; false: the person has a connected one
of this type.
"""
RECONNECT_CHANNEL = OneValue.named("reconnect_channel")
"""sql/queries/watch.sql:131: Whether such a channel is connected."""
DISCONNECT_CHANNEL = OneValue.named("disconnect_channel")
"""sql/queries/watch.sql:135: Whether such a channel was connected."""
LIST_NOTIFICATIONS = ManyRows.named("list_notifications")
"""sql/queries/watch.sql:139: Notifications of a project, newest first."""
RETRY_NOTIFICATIONS = OneValue.named("retry_notifications")
"""sql/queries/watch.sql:153: How many notifications are delivered again."""
READ_SCANNED_MAILBOXES = ManyRows.named("read_scanned_mailboxes")
"""sql/queries/watch.sql:157: Where claimed inboxes are, and their sealed passwords."""
READ_ACTIVE_RULES = ManyRows.named("read_active_rules")
"""sql/queries/watch.sql:167: Active rules of persons in the order of evaluation."""
RECORD_SCAN = OneValue.named("record_scan")
"""sql/queries/watch.sql:175: Write how far an inbox was scanned, and notify of its new mail; how
many messages were not known.
"""
NOTE_INBOX_PUSH = NoRows.named("note_inbox_push")
"""sql/queries/watch.sql:179: Write when Gmail was asked to push what changes in a claimed inbox."""
WAKE_GMAIL_INBOXES = OneValue.named("wake_gmail_inboxes")
"""sql/queries/watch.sql:183: How many inboxes at Gmail of an address are scanned at once."""
NOTIFY_OF_LOST_INBOX = NoRows.named("notify_of_lost_inbox")
"""sql/queries/watch.sql:187: Tell a person that an inbox is given up."""
READ_NOTIFICATIONS = ManyRows.named("read_notifications")
"""sql/queries/watch.sql:191: What claimed notifications say, and where they go."""
READ_SUMMARIZED = ManyRows.named("read_summarized")
"""sql/queries/watch.sql:204: The first mails that each summary is about, and how many there are."""
BEGIN_NOTIFICATIONS = ManyRows.named("begin_notifications")
"""sql/queries/watch.sql:217: Mark claimed notifications, in the order given, before they are
posted.
"""
LOCK_CHANNELS = NoRows.named("lock_channels")
"""sql/queries/watch.sql:222: Lock channels before rows of their notifications."""
NOTE_CHANNEL_ANSWERS = NoRows.named("note_channel_answers")
"""sql/queries/watch.sql:226: Write what answers mean for channels and providers."""
TELL_OF_ERRORS = OneValue.named("tell_of_errors")
"""sql/queries/watch.sql:231: Mail persons whose channels or inboxes have ended in error; returns
the number of mails.
"""
LIST_SEALED_MAILBOX_PASSWORDS = ManyRows.named("list_sealed_mailbox_passwords")
"""sql/queries/watch.sql:235: Some passwords of watched inboxes that are sealed with a data key."""
REPLACE_SEALED_MAILBOX_PASSWORD = NoRows.named("replace_sealed_mailbox_password")
"""sql/queries/watch.sql:245: Replace a sealed password, unless it was replaced meanwhile."""
LIST_SEALED_CHANNEL_TOKENS = ManyRows.named("list_sealed_channel_tokens")
"""sql/queries/watch.sql:252: Some tokens of notification channels that are sealed with a data key.
"""
REPLACE_SEALED_CHANNEL_TOKEN = NoRows.named("replace_sealed_channel_token")
"""sql/queries/watch.sql:262: Replace a sealed token, unless it was replaced meanwhile."""
LIST_SEALED_SIGNING_SECRETS = ManyRows.named("list_sealed_signing_secrets")
"""sql/queries/watch.sql:269: Some signing secrets of Slack apps that are sealed with a data key."""
REPLACE_SEALED_SIGNING_SECRET = NoRows.named("replace_sealed_signing_secret")
"""sql/queries/watch.sql:279: Replace a sealed signing secret, unless it was replaced meanwhile."""
