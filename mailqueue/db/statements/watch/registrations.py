"""The statements of sql/queries/watch/registrations.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, OneValue

# Written by python -m tests.rules.constants --write

BEGIN_PHONE_REGISTRATION = OneValue.named("begin_phone_registration")
"""sql/queries/watch/registrations.sql:3: Time by which the code has to be sent."""
TAKE_PHONE_REGISTRATION = MaybeRow.named("take_phone_registration")
"""sql/queries/watch/registrations.sql:7: Whose registration a code is of, used once."""
FIND_PHONE_CHANNELS = ManyRows.named("find_phone_channels")
"""sql/queries/watch/registrations.sql:13: Channels that a reply to a sender of the installation is
about.
"""
