"""The statements of sql/queries/leases.sql."""

from mailqueue.db.sql import MaybeRow, NoRows, OneValue

# Written by python -m tests.rules.constants --write

LEASE_TABLE_EXISTS = OneValue.named("lease_table_exists")
"""sql/queries/leases.sql:3: Whether the table of leases is there."""
SHOW_BACKEND_PID = OneValue.named("show_backend_pid")
"""sql/queries/leases.sql:7: The server process of this session."""
TAKE_LEASE = OneValue.named("take_lease")
"""sql/queries/leases.sql:11: Take a lease for the session of a server process; false if another
holds it. Does not wait for a holder.
"""
RENEW_LEASE = OneValue.named("renew_lease")
"""sql/queries/leases.sql:34: Extend a lease; false if it was lost."""
USE_LEASE = MaybeRow.named("use_lease")
"""sql/queries/leases.sql:44: Keep others from taking a lease until this transaction ends; no row if
it was lost.
"""
RELEASE_LEASE = NoRows.named("release_lease")
"""sql/queries/leases.sql:51: Release a lease."""
FIND_LEASE_HOLDER = MaybeRow.named("find_lease_holder")
"""sql/queries/leases.sql:55: The holder of a lease, and since when."""
