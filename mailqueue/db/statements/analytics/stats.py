"""The statements of sql/queries/analytics/stats.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneRow, OneValue

# Written by python -m tests.rules.constants --write

FOLD_STATS = OneValue.named("fold_stats")
"""sql/queries/analytics/stats.sql:3: Count what was written since."""
JUDGE_DOMAINS = OneValue.named("judge_domains")
"""sql/queries/analytics/stats.sql:7: Write a notice for each domain that refuses more mail than in
the week before; their number.
"""
READ_STATS_AS_OF = OneValue.named("read_stats_as_of")
"""sql/queries/analytics/stats.sql:11: Time before which everything that was written is counted."""
IS_STATS_ZONE = OneValue.named("is_stats_zone")
"""sql/queries/analytics/stats.sql:15: Whether there is a time zone."""
READ_STATS_ZONE = OneValue.named("read_stats_zone")
"""sql/queries/analytics/stats.sql:19: Time zone of a project."""
LIST_STATS_SPANS = ManyRows.named("list_stats_spans")
"""sql/queries/analytics/stats.sql:25: Starts of the spans of a time, and the end of the last."""
READ_STATS = ManyRows.named("read_stats")
"""sql/queries/analytics/stats.sql:31: Counts by span and value."""
READ_STATS_SERIES = ManyRows.named("read_stats_series")
"""sql/queries/analytics/stats.sql:39: One count by span and value: of the values with the highest
sums, and of all others together.
"""
READ_STATS_SENT = ManyRows.named("read_stats_sent")
"""sql/queries/analytics/stats.sql:45: What each sender account of some projects sent."""
READ_STATS_LATENCY = ManyRows.named("read_stats_latency")
"""sql/queries/analytics/stats.sql:53: Response times of each sender account."""
LIST_STATS_ACCOUNTS = ManyRows.named("list_stats_accounts")
"""sql/queries/analytics/stats.sql:58: Sender accounts with counts; the present name of those that
are left.
"""
LIST_STATS_TEMPLATES = ManyRows.named("list_stats_templates")
"""sql/queries/analytics/stats.sql:65: Templates by id."""
READ_STATS_TESTS = OneValue.named("read_stats_tests")
"""sql/queries/analytics/stats.sql:69: Names of A/B tests by id."""
LIST_STATS_VERSIONS = ManyRows.named("list_stats_versions")
"""sql/queries/analytics/stats.sql:73: Versions of a template, newest first."""
FIND_STATS_TEMPLATE = MaybeRow.named("find_stats_template")
"""sql/queries/analytics/stats.sql:81: A template that a project can use, by id or slug; its own
before the platform's.
"""
LIST_STATS_LINKS = ManyRows.named("list_stats_links")
"""sql/queries/analytics/stats.sql:90: Where links lead."""
VERIFY_STATS = ManyRows.named("verify_stats")
"""sql/queries/analytics/stats.sql:97: Compare the counts of a time with history."""
REBUILD_STATS = OneValue.named("rebuild_stats")
"""sql/queries/analytics/stats.sql:104: Count anew from a day on; its start."""
READ_STATS_COMPLETE_SINCE = OneValue.named("read_stats_complete_since")
"""sql/queries/analytics/stats.sql:108: Since when history is complete."""
READ_STATS_PROGRESS = OneRow.named("read_stats_progress")
"""sql/queries/analytics/stats.sql:112: How far counting has come."""
BOUND_STATS_STATEMENTS = NoRows.named("bound_stats_statements")
"""sql/queries/analytics/stats.sql:116: Bound the time of each further statement of this
transaction.
"""
