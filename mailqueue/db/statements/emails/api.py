"""The statements of sql/queries/emails/api.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, OneValue

# Written by python -m tests.rules.constants --write

FIND_SUPPRESSIONS_AT_ACCEPT = ManyRows.named("find_suppressions_at_accept")
"""sql/queries/emails/api.sql:3: Why mails were suppressed when they were accepted, in order; NULL
for a queued one.
"""
FIND_PROJECT_EMAIL = MaybeRow.named("find_project_email")
"""sql/queries/emails/api.sql:9: One mail of a project, finished or not, with the reason for its
state. Its lists are empty here: each is read by a statement of its own.
"""
LIST_EMAIL_RECIPIENTS = ManyRows.named("list_email_recipients")
"""sql/queries/emails/api.sql:28: The recipients of a message that has several, in their order."""
LIST_NEWEST_ATTEMPTS = ManyRows.named("list_newest_attempts")
"""sql/queries/emails/api.sql:35: The newest attempts to send a mail, newest first; what was said at
the first so many of them.
"""
LIST_NEWEST_EMAIL_EVENTS = ManyRows.named("list_newest_email_events")
"""sql/queries/emails/api.sql:47: The newest other events of a mail, newest first."""
LIST_EMAIL_EVENTS = ManyRows.named("list_email_events")
"""sql/queries/emails/api.sql:55: All events of a mail, oldest first, after one of them. That it was
queued and sent stands in the mail itself: these two have ids derived from that of the mail.
"""
FIND_REFUSAL = MaybeRow.named("find_refusal")
"""sql/queries/emails/api.sql:86: Why mail is not accepted at present; NULL while it is accepted."""
ACT_FOR = OneValue.named("act_for")
"""sql/queries/emails/api.sql:90: Until the transaction ends, take the rights of role mailqueue_api,
if the login may, and see only rows of one project, or of all for '*', and of the key's mode:
test, live, or both for NULL. The audit names the given actor. Writes nothing in read-only
requests. False for a key that was revoked.
"""
MAY_ACT_AS_API = OneValue.named("may_act_as_api")
"""sql/queries/emails/api.sql:103: Whether row-level security applies to an API with this login: not
if it has the owner's rights and cannot take the role of the API. A login with neither sees
nothing anyway.
"""
