"""The statements of sql/queries/vault.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneValue

# Written by python -m tests.rules.constants --write

FIND_DATA_KEY = MaybeRow.named("find_data_key")
"""sql/queries/vault.sql:3: The named data key of a project, unless it was deleted."""
FIND_ACTIVE_DATA_KEY = MaybeRow.named("find_active_data_key")
"""sql/queries/vault.sql:11: The active data key of a project. A shared lock keeps it active until
the caller commits.
"""
ADD_DATA_KEY = NoRows.named("add_data_key")
"""sql/queries/vault.sql:19: Create a project's active data key; changes nothing if a concurrent
caller was first.
"""
LIST_MASTER_KEY_IDS = ManyRows.named("list_master_key_ids")
"""sql/queries/vault.sql:25: The master keys that are needed to unwrap data keys, and to open second
factors.
"""
LIST_DATA_KEYS = ManyRows.named("list_data_keys")
"""sql/queries/vault.sql:40: Every data key of a project that was not deleted, locked until the
caller commits.
"""
LIST_KEYS_TO_REWRAP = ManyRows.named("list_keys_to_rewrap")
"""sql/queries/vault.sql:49: Some data keys that the platform wraps by another master key."""
REWRAP_DATA_KEY = NoRows.named("rewrap_data_key")
"""sql/queries/vault.sql:59: Wrap a data key by another key, unless it was changed meanwhile."""
FIND_KEY_GRANT = MaybeRow.named("find_key_grant")
"""sql/queries/vault.sql:68: The grant to use a data key, unless it expired."""
LIST_GRANTS_TO_REWRAP = ManyRows.named("list_grants_to_rewrap")
"""sql/queries/vault.sql:75: Some valid grants that are wrapped by another master key."""
REWRAP_KEY_GRANT = NoRows.named("rewrap_key_grant")
"""sql/queries/vault.sql:84: Wrap a grant by another master key, unless it was changed meanwhile."""
ADD_KEY_GRANT = NoRows.named("add_key_grant")
"""sql/queries/vault.sql:92: Grant the use of a data key until a point in time; replaces an earlier
grant.
"""
DELETE_KEY_GRANTS = NoRows.named("delete_key_grants")
"""sql/queries/vault.sql:103: Revoke the grants of a project's data keys."""
FORGET_EXPIRED_GRANTS = OneValue.named("forget_expired_grants")
"""sql/queries/vault.sql:108: Delete expired grants; returns their number."""
INSTANT_AFTER = OneValue.named("instant_after")
"""sql/queries/vault.sql:112: A point in time that long from now, by the database's clock."""
KEEP_PROJECT_LOCK = NoRows.named("keep_project_lock")
"""sql/queries/vault.sql:116: Set the time from which a project's mail waits because its secrets
cannot be opened.
"""
FIND_VAULT_PROJECT = MaybeRow.named("find_vault_project")
"""sql/queries/vault.sql:120: The id of the project of that name."""
LIST_PROJECTS_TO_RENEW = ManyRows.named("list_projects_to_renew")
"""sql/queries/vault.sql:126: Projects whose active data key was made with another master key, or
all that have one.
"""
RETIRE_ACTIVE_DATA_KEY = NoRows.named("retire_active_data_key")
"""sql/queries/vault.sql:137: Retire the active data key of a project; waits for transactions that
are sealing with it.
"""
LIST_KEYS_TO_CLEAR = ManyRows.named("list_keys_to_clear")
"""sql/queries/vault.sql:144: Retired data keys that secrets may still be sealed with; not those
that only a project can open.
"""
NOTE_KEY_CLEARED = NoRows.named("note_key_cleared")
"""sql/queries/vault.sql:153: Record that nothing is sealed with this data key any more."""
LIST_SEALED_SMTP_PASSWORDS = ManyRows.named("list_sealed_smtp_passwords")
"""sql/queries/vault.sql:161: Some passwords of sender accounts that are sealed with a data key."""
REPLACE_SEALED_SMTP_PASSWORD = NoRows.named("replace_sealed_smtp_password")
"""sql/queries/vault.sql:172: Replace a sealed password, unless it was changed meanwhile."""
LIST_SEALED_DKIM_KEYS = ManyRows.named("list_sealed_dkim_keys")
"""sql/queries/vault.sql:179: Some DKIM keys that are sealed with a data key."""
REPLACE_SEALED_DKIM_KEY = NoRows.named("replace_sealed_dkim_key")
"""sql/queries/vault.sql:189: Replace a sealed DKIM key, unless it was revoked meanwhile."""
LIST_SEALED_CUSTOM_SMTP_SERVERS = ManyRows.named("list_sealed_custom_smtp_servers")
"""sql/queries/vault.sql:196: Some servers of queued mail that are sealed with a data key."""
REPLACE_SEALED_CUSTOM_SMTP_SERVER = NoRows.named("replace_sealed_custom_smtp_server")
"""sql/queries/vault.sql:206: Replace a sealed server, unless its mail was finished meanwhile."""
LIST_SEALED_TRACKING_KEYS = ManyRows.named("list_sealed_tracking_keys")
"""sql/queries/vault.sql:213: Some keys of tokens that are sealed with a data key."""
REPLACE_SEALED_TRACKING_KEY = NoRows.named("replace_sealed_tracking_key")
"""sql/queries/vault.sql:223: Replace a sealed token key, unless it was replaced meanwhile."""
LIST_PROJECT_VAULTS = ManyRows.named("list_project_vaults")
"""sql/queries/vault.sql:230: How the secrets of projects are sealed, for those that have any."""
NOTE_VAULT_CHANGE = NoRows.named("note_vault_change")
"""sql/queries/vault.sql:243: Write an audit row for a change of a project's keys, or all."""
LIST_SEALED_WEBHOOK_SECRETS = ManyRows.named("list_sealed_webhook_secrets")
"""sql/queries/vault.sql:248: Some secrets of webhooks that are sealed with a data key."""
REPLACE_SEALED_WEBHOOK_SECRET = NoRows.named("replace_sealed_webhook_secret")
"""sql/queries/vault.sql:258: Replace a sealed secret, unless it was replaced meanwhile."""
LIST_SEALED_PREVIOUS_WEBHOOK_SECRETS = ManyRows.named("list_sealed_previous_webhook_secrets")
"""sql/queries/vault.sql:265: Some previous secrets of webhooks that are sealed with a data key."""
REPLACE_SEALED_PREVIOUS_WEBHOOK_SECRET = NoRows.named("replace_sealed_previous_webhook_secret")
"""sql/queries/vault.sql:275: Replace a sealed secret, unless it was replaced meanwhile."""
LIST_AUDIT_KEYS = ManyRows.named("list_audit_keys")
"""sql/queries/vault.sql:282: Keys of the audit log, oldest first."""
ADD_AUDIT_KEY = NoRows.named("add_audit_key")
"""sql/queries/vault.sql:287: Create the key that seals the audit log from now on."""
REWRAP_AUDIT_KEY = NoRows.named("rewrap_audit_key")
"""sql/queries/vault.sql:292: Wrap a key of the audit log by another master key, unless it was
changed meanwhile.
"""
