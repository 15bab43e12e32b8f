"""The statements of sql/queries/projects/keys.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneValue

# Written by python -m tests.rules.constants --write

FIND_API_KEY = MaybeRow.named("find_api_key")
"""sql/queries/projects/keys.sql:3: Project and rights of the valid key with that hash. Updates its
last use.
"""
LIST_VALID_KEYS = ManyRows.named("list_valid_keys")
"""sql/queries/projects/keys.sql:9: Those of these keys that are valid now."""
ISSUE_API_KEY = OneValue.named("issue_api_key")
"""sql/queries/projects/keys.sql:13: Create a key; only its hash is stored."""
READ_API_KEY = MaybeRow.named("read_api_key")
"""sql/queries/projects/keys.sql:19: A key of a project."""
FIND_API_KEY_NAMED = MaybeRow.named("find_api_key_named")
"""sql/queries/projects/keys.sql:28: The valid key of that name, otherwise the newest that had it.
"""
LIST_API_KEYS = ManyRows.named("list_api_keys")
"""sql/queries/projects/keys.sql:37: The keys of a project, newest first, a page before the one of
that time and id.
"""
LIST_ACTIVE_API_KEYS = ManyRows.named("list_active_api_keys")
"""sql/queries/projects/keys.sql:49: The keys of a project that are valid now, newest first."""
CHANGE_API_KEY = OneValue.named("change_api_key")
"""sql/queries/projects/keys.sql:61: Change name or rate of a valid key; false if there is none."""
ROTATE_API_KEY = MaybeRow.named("rotate_api_key")
"""sql/queries/projects/keys.sql:65: Replace a valid key by a new one; the old one expires after the
grace period. NULL if there is none.
"""
REVOKE_API_KEY = OneValue.named("revoke_api_key")
"""sql/queries/projects/keys.sql:71: Revoke a key; false if there is no valid one."""
SET_ACTOR = NoRows.named("set_actor")
"""sql/queries/projects/keys.sql:75: Set the actor that the audit names until the transaction ends.
"""
