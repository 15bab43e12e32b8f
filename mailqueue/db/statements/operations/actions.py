"""The statements of sql/queries/operations/actions.sql."""

from mailqueue.db.sql import ManyRows, NoRows, OneRow, OneValue

# Written by python -m tests.rules.constants --write

CANCEL_EMAIL = ManyRows.named("cancel_email")
"""sql/queries/operations/actions.sql:3: Cancel unfinished mails: pending and held at once, assigned
by their worker before sending.
"""
HOLD_EMAIL = ManyRows.named("hold_email")
"""sql/queries/operations/actions.sql:8: Hold pending mails until they are released."""
RELEASE_EMAIL = ManyRows.named("release_email")
"""sql/queries/operations/actions.sql:13: Return held mails to their lanes."""
RESCHEDULE_EMAILS = ManyRows.named("reschedule_emails")
"""sql/queries/operations/actions.sql:18: Change when pending or held mails without an attempt are
sent.
"""
REQUEUE_EMAIL = ManyRows.named("requeue_email")
"""sql/queries/operations/actions.sql:23: Queue failed, expired or cancelled mails again."""
RESEND_EMAIL = ManyRows.named("resend_email")
"""sql/queries/operations/actions.sql:28: Queue sent mails once more, each as a new mail."""
LIST_SUPPRESSED_RECIPIENTS = ManyRows.named("list_suppressed_recipients")
"""sql/queries/operations/actions.sql:33: Recipients of a mail of a project that cannot be sent
again, because all of them are suppressed; else none.
"""
FIND_STILL_SUPPRESSED = ManyRows.named("find_still_suppressed")
"""sql/queries/operations/actions.sql:38: Which of these finished mails cannot be sent again now,
because all of their recipients are suppressed.
"""
REPRIORITISE_EMAIL = ManyRows.named("reprioritise_email")
"""sql/queries/operations/actions.sql:43: Move unfinished mails to the lanes of another priority."""
RESOLVE_EMAIL = ManyRows.named("resolve_email")
"""sql/queries/operations/actions.sql:48: Resolve mails in doubt."""
FIND_EMAIL_PROJECTS = ManyRows.named("find_email_projects")
"""sql/queries/operations/actions.sql:53: The project of each of these mails; unknown ids have none.
"""
RECORD_OPERATION = OneValue.named("record_operation")
"""sql/queries/operations/actions.sql:59: Write one audit row."""
NOTE_VIEW = NoRows.named("note_view")
"""sql/queries/operations/actions.sql:63: Write an audit row: the actor of the transaction looked at
what an email says.
"""
NOTE_ACT = NoRows.named("note_act")
"""sql/queries/operations/actions.sql:68: Write an audit row for what the actor of the transaction
did.
"""
COUNT_MATCHING = OneValue.named("count_matching")
"""sql/queries/operations/actions.sql:73: Number of mails that an operation would change."""
BEGIN_OPERATION = OneValue.named("begin_operation")
"""sql/queries/operations/actions.sql:77: Record the start of an operation on all matching mail; its
number.
"""
CONTINUE_OPERATION = OneRow.named("continue_operation")
"""sql/queries/operations/actions.sql:81: Apply an operation to its next batch of mails."""
HOLD_RESTORED = OneRow.named("hold_restored")
"""sql/queries/operations/actions.sql:86: Hold a batch of the mail that may have been sent since the
backup.
"""
ACCEPT_RESTORED = OneValue.named("accept_restored")
"""sql/queries/operations/actions.sql:91: Send from this database without holding mail; the
operation.
"""
PAUSE_SENDING = OneValue.named("pause_sending")
"""sql/queries/operations/actions.sql:95: Pause mail; the number of the operation that moves queued
mail.
"""
RESUME_SENDING = OneValue.named("resume_sending")
"""sql/queries/operations/actions.sql:101: End a pause; false if there was none."""
LIST_PAUSES = ManyRows.named("list_pauses")
"""sql/queries/operations/actions.sql:105: Pauses in force."""
LIST_PAUSES_OF_PROJECT = ManyRows.named("list_pauses_of_project")
"""sql/queries/operations/actions.sql:112: A page of what is paused now in a project, or in all of
them; the pause of the platform has no project and is first.
"""
CAMPAIGN_HAS_EMAILS = OneValue.named("campaign_has_emails")
"""sql/queries/operations/actions.sql:123: Whether an email of the project, queued or finished, has
the campaign.
"""
LIST_NEWEST_CAMPAIGNS = ManyRows.named("list_newest_campaigns")
"""sql/queries/operations/actions.sql:127: Campaigns of the project that have counts, newest first.
"""
PAUSE_IN_PROJECT = OneValue.named("pause_in_project")
"""sql/queries/operations/actions.sql:132: Pause mail of a project; the number of the operation that
moves queued mail.
"""
RESUME_IN_PROJECT = OneValue.named("resume_in_project")
"""sql/queries/operations/actions.sql:138: End a pause in a project; false if there was none."""
