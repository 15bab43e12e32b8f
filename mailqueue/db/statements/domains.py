"""The statements of sql/queries/domains.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneValue

# Written by python -m tests.rules.constants --write

FIND_SIGNING_PROJECT = MaybeRow.named("find_signing_project")
"""sql/queries/domains.sql:3: The project of that name, and whether it sends signed mail only."""
SET_DKIM_REQUIRED = NoRows.named("set_dkim_required")
"""sql/queries/domains.sql:9: Require signatures for mail of a project, or not."""
ADD_DKIM_KEY = NoRows.named("add_dkim_key")
"""sql/queries/domains.sql:16: Store a new key, pending until its record is in DNS."""
LIST_DKIM_KEYS = ManyRows.named("list_dkim_keys")
"""sql/queries/domains.sql:21: The keys of a project or of all, of one domain or of all, oldest
first.
"""
LIST_KEYS_OF_DOMAINS = ManyRows.named("list_keys_of_domains")
"""sql/queries/domains.sql:32: The keys of these domains that have or had a record in DNS, of each
project.
"""
LIST_KEYS_IN_FORCE = ManyRows.named("list_keys_in_force")
"""sql/queries/domains.sql:43: The active keys of a project, sealed; RSA first, which every receiver
supports.
"""
IS_DKIM_REQUIRED = OneValue.named("is_dkim_required")
"""sql/queries/domains.sql:51: Whether a project sends signed mail only."""
RETIRE_DKIM_KEYS = NoRows.named("retire_dkim_keys")
"""sql/queries/domains.sql:57: Retire the active keys of a domain and algorithm; their DNS record is
still needed for a while.
"""
ACTIVATE_DKIM_KEY = NoRows.named("activate_dkim_key")
"""sql/queries/domains.sql:68: Activate a pending key."""
NOTE_KEYS_SEEN = NoRows.named("note_keys_seen")
"""sql/queries/domains.sql:76: Record that these keys were found in DNS."""
REVOKE_DKIM_KEY = NoRows.named("revoke_dkim_key")
"""sql/queries/domains.sql:82: Delete a private key; the row stays, so that its selector is never
used again.
"""
NOTE_DKIM_CHANGE = NoRows.named("note_dkim_change")
"""sql/queries/domains.sql:91: Write an audit row for a change of a project's keys."""
RECORD_DOMAIN_CHECK = NoRows.named("record_domain_check")
"""sql/queries/domains.sql:96: Store the result of a DNS check of a domain."""
RECORD_DOMAIN_CHECKS = NoRows.named("record_domain_checks")
"""sql/queries/domains.sql:101: Store the results of DNS checks of domains, at the same places of
all arrays.
"""
LIST_LAST_DOMAIN_CHECKS = ManyRows.named("list_last_domain_checks")
"""sql/queries/domains.sql:108: The newest check of each domain of a project, or of one."""
