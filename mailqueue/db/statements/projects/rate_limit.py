"""The statements of sql/queries/projects/rate_limit.sql."""

from mailqueue.db.sql import MaybeRow, NoRows, OneRow

# Written by python -m tests.rules.constants --write

LEASE_REQUESTS = OneRow.named("lease_requests")
"""sql/queries/projects/rate_limit.sql:3: Take up to that many requests of a window; 0 if there are
none.
"""
SWEEP_REQUEST_BUCKETS = NoRows.named("sweep_request_buckets")
"""sql/queries/projects/rate_limit.sql:9: Delete buckets that have long been full again."""
CLAIM_ANSWER = MaybeRow.named("claim_answer")
"""sql/queries/projects/rate_limit.sql:14: Take an idempotency key for a request: no row if it is
taken and its 24 hours are not over. A concurrent request waits until the first one ends. False
if a mail was accepted under the key.
"""
READ_ANSWER = MaybeRow.named("read_answer")
"""sql/queries/projects/rate_limit.sql:26: The answer stored for an idempotency key."""
KEEP_ANSWER = NoRows.named("keep_answer")
"""sql/queries/projects/rate_limit.sql:33: Store the answer of an idempotency key."""
GIVE_BACK_ANSWER = NoRows.named("give_back_answer")
"""sql/queries/projects/rate_limit.sql:40: Release an idempotency key: the request changed nothing.
"""
WAIT_FOR_LOCKS = NoRows.named("wait_for_locks")
"""sql/queries/projects/rate_limit.sql:53: Set the lock timeout until the transaction ends or it is
set again.
"""
SWEEP_ANSWERS = NoRows.named("sweep_answers")
"""sql/queries/projects/rate_limit.sql:57: Delete answers whose 24 hours are over."""
