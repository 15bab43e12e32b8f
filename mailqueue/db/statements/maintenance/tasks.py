"""The statements of sql/queries/maintenance/tasks.sql."""

from mailqueue.db.sql import ManyRows, NoRows, OneRow, OneValue

# Written by python -m tests.rules.constants --write

SET_UP_SESSION = NoRows.named("set_up_session")
"""sql/queries/maintenance/tasks.sql:3: Set up a maintenance session: no statement timeout, a short
lock timeout, no search path, UTC.
"""
LIST_PARTITIONS = ManyRows.named("list_partitions")
"""sql/queries/maintenance/tasks.sql:9: Tables by month, oldest first: attached, being detached, and
detached.
"""
IS_PARTITION_EMPTY = OneValue.named("is_partition_empty")
"""sql/queries/maintenance/tasks.sql:22: Whether a table has no row."""
TODAY = OneValue.named("today")
"""sql/queries/maintenance/tasks.sql:26: The current day, in UTC."""
DETACH_PARTITION = NoRows.named("detach_partition")
"""sql/queries/maintenance/tasks.sql:30: Detach a month from its table; inserts and reads of other
months continue.
"""
FINISH_DETACHING = NoRows.named("finish_detaching")
"""sql/queries/maintenance/tasks.sql:34: Complete an interrupted detach."""
DROP_DETACHED = NoRows.named("drop_detached")
"""sql/queries/maintenance/tasks.sql:38: Drop a table that was detached."""
MAKE_PARTITIONS_OF = OneValue.named("make_partitions_of")
"""sql/queries/maintenance/tasks.sql:42: Create the partitions of a day's month, or attach those
that were being detached; returns the number.
"""
ENSURE_MONTHS_AHEAD = OneValue.named("ensure_months_ahead")
"""sql/queries/maintenance/tasks.sql:46: Create the partitions of the coming months; returns the
number that was missing.
"""
COUNT_MONTHS_AHEAD = OneValue.named("count_months_ahead")
"""sql/queries/maintenance/tasks.sql:50: Number of days from today for which every monthly table has
a partition.
"""
GATHER_SIGNALS = OneValue.named("gather_signals")
"""sql/queries/maintenance/tasks.sql:60: Count accepted mail and wake lanes, like workers do;
returns the number of signals.
"""
ROLL_DAYS_OVER = OneValue.named("roll_days_over")
"""sql/queries/maintenance/tasks.sql:64: Move counters of past days to limit_days; returns the
number of limits.
"""
RECOUNT_USAGE = OneValue.named("recount_usage")
"""sql/queries/maintenance/tasks.sql:68: Compare what projects use of their bounds with the tables,
where a day has passed; returns how many were corrected.
"""
SWEEP_BALANCED_DAYS = OneValue.named("sweep_balanced_days")
"""sql/queries/maintenance/tasks.sql:72: Delete the books of days that balance and of which no mail
is left; returns the number of days.
"""
SWEEP_WAITERS = OneValue.named("sweep_waiters")
"""sql/queries/maintenance/tasks.sql:92: Delete wake-up requests of workers that are gone: each
causes a NOTIFY at every commit. Returns their number.
"""
COUNT_PAGES = OneValue.named("count_pages")
"""sql/queries/maintenance/tasks.sql:103: Number of pages of a table."""
SWEEP_IDEMPOTENCY_KEYS = OneValue.named("sweep_idempotency_keys")
"""sql/queries/maintenance/tasks.sql:107: Delete old idempotency keys in a range of the table's
pages; returns their number.
"""
SWEEP_RETAINED = OneValue.named("sweep_retained")
"""sql/queries/maintenance/tasks.sql:122: Delete a batch of rows of a kind whose retention is over;
returns their number.
"""
SWEEP_WEBHOOKS = OneRow.named("sweep_webhooks")
"""sql/queries/maintenance/tasks.sql:126: Delete webhook deliveries after an id whose retention is
over; the last id examined, and the number deleted.
"""
SWEEP_WEBHOOK_EVENTS = OneValue.named("sweep_webhook_events")
"""sql/queries/maintenance/tasks.sql:130: Delete a batch of old webhook events; returns their
number.
"""
END_WARM_UPS = ManyRows.named("end_warm_ups")
"""sql/queries/maintenance/tasks.sql:134: End the warm-up of accounts that finished its last stage;
returns them.
"""
LIST_WARM_UPS = ManyRows.named("list_warm_ups")
"""sql/queries/maintenance/tasks.sql:138: Accounts in warm-up today: their stage, its limit, mail
sent, bounces and complaints.
"""
EXPIRE_API_KEYS = ManyRows.named("expire_api_keys")
"""sql/queries/maintenance/tasks.sql:146: Mark keys that have expired as revoked; returns them."""
LIST_EXPIRING_KEYS = ManyRows.named("list_expiring_keys")
"""sql/queries/maintenance/tasks.sql:150: Valid keys that expire within that many days."""
LIST_CHANGED_TABLES = ManyRows.named("list_changed_tables")
"""sql/queries/maintenance/tasks.sql:160: Tables with outdated statistics. Autovacuum does not
analyze partitioned tables.
"""
ANALYZE_TABLE = NoRows.named("analyze_table")
"""sql/queries/maintenance/tasks.sql:182: Update a table's statistics."""
LIST_VACUUM_NEEDS = ManyRows.named("list_vacuum_needs")
"""sql/queries/maintenance/tasks.sql:186: Tables with many dead rows, or whose oldest transaction id
is far back.
"""
RESET_ROLE = NoRows.named("reset_role")
"""sql/queries/maintenance/tasks.sql:197: Act as the session user until the transaction ends."""
LIST_HORIZON_HOLDERS = ManyRows.named("list_horizon_holders")
"""sql/queries/maintenance/tasks.sql:201: Sessions and slots that have held back the removal of dead
rows for that long, as text.
"""
NOTE_MAINTENANCE_RUN = NoRows.named("note_maintenance_run")
"""sql/queries/maintenance/tasks.sql:221: Record a run of a maintenance task; where no worker has
claimed it, the next one is due after its interval.
"""
