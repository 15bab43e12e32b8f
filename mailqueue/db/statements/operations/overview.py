"""The statements of sql/queries/operations/overview.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, OneRow, OneValue

# Written by python -m tests.rules.constants --write

LIST_LANE_DEPTHS = ManyRows.named("list_lane_depths")
"""sql/queries/operations/overview.sql:3: Lanes that have unfinished mail or sent some within five
minutes, most urgent first, with their rate and what blocks them.
"""
LIST_SENDERS_TODAY = ManyRows.named("list_senders_today")
"""sql/queries/operations/overview.sql:36: All sender accounts with the mail they sent today and may
still send.
"""
LIST_WORKERS_SEEN = ManyRows.named("list_workers_seen")
"""sql/queries/operations/overview.sql:43: Workers that run or ended within the last quarter of an
hour.
"""
COUNT_EMAILS_BY_STATUS = ManyRows.named("count_emails_by_status")
"""sql/queries/operations/overview.sql:51: Number of mails, finished or not, in each status: counted
up to count_exactly, otherwise estimated from statistics.
"""
COUNT_FINISHED_OF_PROJECT = ManyRows.named("count_finished_of_project")
"""sql/queries/operations/overview.sql:56: Number of finished mails of a project in each status:
counted up to count_exactly, otherwise estimated.
"""
EXPLAIN_EMAIL = OneValue.named("explain_email")
"""sql/queries/operations/overview.sql:61: The first reason why a mail was not sent, as text; or its
outcome.
"""
FIND_ARCHIVED_EMAIL = MaybeRow.named("find_archived_email")
"""sql/queries/operations/overview.sql:65: How to find a mail that is not in the database in the
archive; NULL if none is archived.
"""
SHOW_ATTEMPTS = ManyRows.named("show_attempts")
"""sql/queries/operations/overview.sql:69: Every attempt to send a mail, in order."""
HAS_SENT = OneValue.named("has_sent")
"""sql/queries/operations/overview.sql:78: Whether an account of a project, or of any, has ever sent
mail; the mail trap does not count.
"""
READ_BOOKS = ManyRows.named("read_books")
"""sql/queries/operations/overview.sql:82: Accepted mail of each project and day, compared with its
outcomes.
"""
DESCRIBE_SERVER = OneRow.named("describe_server")
"""sql/queries/operations/overview.sql:89: Version of the server, encoding of the database and
default isolation level.
"""
LIST_KNOWN_ROLES = ManyRows.named("list_known_roles")
"""sql/queries/operations/overview.sql:98: Those of these roles that exist."""
READ_CLOCK = OneValue.named("read_clock")
"""sql/queries/operations/overview.sql:104: The server's clock."""
LIST_TRAFFIC = ManyRows.named("list_traffic")
"""sql/queries/operations/overview.sql:108: How the attempts of a span ended, by minute and project.
"""
LIST_ACCOUNT_BOARD = ManyRows.named("list_account_board")
"""sql/queries/operations/overview.sql:113: How the attempts of each sender account ended since a
time, and how long servers took; the slowest first.
"""
