"""The statements of sql/queries/users/passkeys.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneValue

# Written by python -m tests.rules.constants --write

PUT_CONSOLE_CHALLENGE = NoRows.named("put_console_challenge")
"""sql/queries/users/passkeys.sql:3: Store the challenge of a session or browser."""
TAKE_CONSOLE_CHALLENGE = MaybeRow.named("take_console_challenge")
"""sql/queries/users/passkeys.sql:7: Use up the challenge of a session or browser."""
ADD_CONSOLE_PASSKEY = NoRows.named("add_console_passkey")
"""sql/queries/users/passkeys.sql:13: Store the public key of a passkey."""
FIND_CONSOLE_PASSKEY = MaybeRow.named("find_console_passkey")
"""sql/queries/users/passkeys.sql:19: The passkey with a credential id."""
USE_CONSOLE_PASSKEY = MaybeRow.named("use_console_passkey")
"""sql/queries/users/passkeys.sql:24: Record that a passkey was used; false if its count went back,
no row if it was removed.
"""
LIST_CONSOLE_PASSKEYS = ManyRows.named("list_console_passkeys")
"""sql/queries/users/passkeys.sql:31: The passkeys of a user, the first one first."""
REMOVE_CONSOLE_PASSKEY = OneValue.named("remove_console_passkey")
"""sql/queries/users/passkeys.sql:36: Delete a passkey of a user; false if there is no such one."""
