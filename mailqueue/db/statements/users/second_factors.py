"""The statements of sql/queries/users/second_factors.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneValue

# Written by python -m tests.rules.constants --write

BEGIN_CONSOLE_SECOND_FACTOR = OneValue.named("begin_console_second_factor")
"""sql/queries/users/second_factors.sql:3: Store the sealed secret of a second factor that is not on
yet; false if one is on.
"""
FIND_CONSOLE_SECOND_FACTOR = MaybeRow.named("find_console_second_factor")
"""sql/queries/users/second_factors.sql:8: The second factor of a user, on or not yet."""
TURN_ON_CONSOLE_SECOND_FACTOR = OneValue.named("turn_on_console_second_factor")
"""sql/queries/users/second_factors.sql:14: Turn on the second factor whose secret a session was
shown.
"""
USE_CONSOLE_CODE = OneValue.named("use_console_code")
"""sql/queries/users/second_factors.sql:19: Use up a code or a recovery code; false if it was used
before.
"""
NOTE_WRONG_CONSOLE_CODE = NoRows.named("note_wrong_console_code")
"""sql/queries/users/second_factors.sql:23: Record a login with the right password and a wrong code.
"""
RENEW_CONSOLE_RECOVERY_CODES = OneValue.named("renew_console_recovery_codes")
"""sql/queries/users/second_factors.sql:27: Replace the recovery codes of a user."""
TURN_OFF_CONSOLE_SECOND_FACTOR = OneValue.named("turn_off_console_second_factor")
"""sql/queries/users/second_factors.sql:31: Delete the second factor of a user."""
RESET_CONSOLE_SECOND_FACTOR = OneValue.named("reset_console_second_factor")
"""sql/queries/users/second_factors.sql:35: Delete the second factor of a user by name, and end the
user's sessions; false if there is no such user.
"""
LIST_SECOND_FACTORS_TO_RESEAL = ManyRows.named("list_second_factors_to_reseal")
"""sql/queries/users/second_factors.sql:39: Some second factors of users of the console that another
master key seals.
"""
RESEAL_SECOND_FACTOR = NoRows.named("reseal_second_factor")
"""sql/queries/users/second_factors.sql:48: Seal a second factor by another master key, unless it
was changed meanwhile.
"""
