"""The statements of sql/queries/webhooks.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneValue

# Written by python -m tests.rules.constants --write

FIND_WEBHOOK_PROJECT = MaybeRow.named("find_webhook_project")
"""sql/queries/webhooks.sql:3: The id of the project of that name."""
COUNT_WEBHOOKS = OneValue.named("count_webhooks")
"""sql/queries/webhooks.sql:7: Number of webhooks of a project; concurrent inserts wait until this
transaction ends.
"""
ADD_WEBHOOK = NoRows.named("add_webhook")
"""sql/queries/webhooks.sql:11: Add a webhook."""
LIST_WEBHOOKS = ManyRows.named("list_webhooks")
"""sql/queries/webhooks.sql:16: Webhooks after one, in order of creation; of one project, or of all.
"""
LOCK_WEBHOOK = OneValue.named("lock_webhook")
"""sql/queries/webhooks.sql:31: Lock a webhook until the transaction ends; false if the project has
no such webhook.
"""
CHANGE_WEBHOOK = OneValue.named("change_webhook")
"""sql/queries/webhooks.sql:35: Change URL and event types of a webhook; false if the project has no
such webhook.
"""
SWITCH_WEBHOOK = OneValue.named("switch_webhook")
"""sql/queries/webhooks.sql:39: Enable or disable a webhook; false if the project has no such
webhook.
"""
REMOVE_WEBHOOK = OneValue.named("remove_webhook")
"""sql/queries/webhooks.sql:43: Remove a webhook with its log; false if the project has no such
webhook.
"""
LOCK_WEBHOOK_KEYS = MaybeRow.named("lock_webhook_keys")
"""sql/queries/webhooks.sql:47: The secrets of one webhook, locked for a change."""
READ_WEBHOOK_KEYS = ManyRows.named("read_webhook_keys")
"""sql/queries/webhooks.sql:55: URLs and secrets of webhooks."""
REPLACE_WEBHOOK_SECRET = NoRows.named("replace_webhook_secret")
"""sql/queries/webhooks.sql:62: Replace the secret; the previous one signs as well for that long
(NULL: no longer).
"""
AUDIT_WEBHOOK = NoRows.named("audit_webhook")
"""sql/queries/webhooks.sql:73: Write an audit row for a webhook."""
LIST_WEBHOOK_DELIVERIES = ManyRows.named("list_webhook_deliveries")
"""sql/queries/webhooks.sql:78: Deliveries of a webhook after one, newest first."""
READ_WEBHOOK_EVENT = MaybeRow.named("read_webhook_event")
"""sql/queries/webhooks.sql:98: The payload of one event."""
LIST_WEBHOOK_ATTEMPTS = ManyRows.named("list_webhook_attempts")
"""sql/queries/webhooks.sql:102: Every call of a delivery, in order."""
RETRY_WEBHOOK_DELIVERIES = OneValue.named("retry_webhook_deliveries")
"""sql/queries/webhooks.sql:109: Deliver again what is finished; returns the number of deliveries.
"""
COUNT_WEBHOOK_RETRIES = OneValue.named("count_webhook_retries")
"""sql/queries/webhooks.sql:115: Number of finished deliveries that a retry would deliver again."""
LOG_WEBHOOK_TEST = MaybeRow.named("log_webhook_test")
"""sql/queries/webhooks.sql:121: Log a test; the id of its delivery."""
CLAIM_WEBHOOK_CALLS = ManyRows.named("claim_webhook_calls")
"""sql/queries/webhooks.sql:127: Take due deliveries for a worker, with what they send."""
READ_WEBHOOK_PAYLOADS = ManyRows.named("read_webhook_payloads")
"""sql/queries/webhooks.sql:133: What claimed deliveries send, and the revisions of their endpoints.
"""
ARE_CALLS_TRACED = OneValue.named("are_calls_traced")
"""sql/queries/webhooks.sql:137: Whether calls are marked for the export of their spans."""
READ_WEBHOOK_EMAILS = ManyRows.named("read_webhook_emails")
"""sql/queries/webhooks.sql:141: Emails as events in the formats of providers describe them."""
READ_WEBHOOK_EMAIL = MaybeRow.named("read_webhook_email")
"""sql/queries/webhooks.sql:147: An email of a project as events in the formats of providers
describe it.
"""
SETTLE_WEBHOOK_CALLS = ManyRows.named("settle_webhook_calls")
"""sql/queries/webhooks.sql:153: Write outcomes of deliveries and log their calls; returns
deliveries whose claim no longer holds, and endpoints that are left alone now.
"""
TIDY_WEBHOOKS = OneValue.named("tidy_webhooks")
"""sql/queries/webhooks.sql:164: Cancel deliveries of endpoints that are gone and delete those of
removed ones; returns the number of rows.
"""
LIST_DELIVERIES_OF_EMAIL = ManyRows.named("list_deliveries_of_email")
"""sql/queries/webhooks.sql:168: Deliveries to webhooks of the newest events of an email, oldest
first.
"""
