"""The statements of sql/queries/operations/bench.sql."""

from mailqueue.db.sql import NoRows, OneRow, OneValue

# Written by python -m tests.rules.constants --write

FIND_BENCH_OBSTACLES = OneRow.named("find_bench_obstacles")
"""sql/queries/operations/bench.sql:3: Other mail that waits or is in flight, and workers that would
take part in a measurement.
"""
START_BENCH = OneValue.named("start_bench")
"""sql/queries/operations/bench.sql:11: Create the project; triggers create its lanes."""
ADD_BENCH_SENDER = OneValue.named("add_bench_sender")
"""sql/queries/operations/bench.sql:15: Add a sender account that leads to the benchmark's own
server, paused.
"""
RESUME_BENCH_SENDER = NoRows.named("resume_bench_sender")
"""sql/queries/operations/bench.sql:22: Activate it."""
PING = OneValue.named("ping")
"""sql/queries/operations/bench.sql:26: Nothing: measures the round trip."""
READ_BENCH_PROGRESS = OneRow.named("read_bench_progress")
"""sql/queries/operations/bench.sql:30: Number of mails of the project that were sent, and the total
duration in seconds.
"""
READ_INSTANT = OneValue.named("read_instant")
"""sql/queries/operations/bench.sql:37: The server's clock, in seconds."""
ALLOW_BY_HAND = OneValue.named("allow_by_hand")
"""sql/queries/operations/bench.sql:41: Allow statements in this transaction that guards refuse
outside of functions.
"""
ERASE_BENCH = NoRows.named("erase_bench")
"""sql/queries/operations/bench.sql:45: Delete every row of the project in all tables."""
