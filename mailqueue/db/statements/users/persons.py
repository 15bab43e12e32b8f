"""The statements of sql/queries/users/persons.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, OneRow, OneValue

# Written by python -m tests.rules.constants --write

FIND_PERSONS_PROJECT = MaybeRow.named("find_persons_project")
"""sql/queries/users/persons.sql:3: The project whose persons log in to pages below its name."""
INVITE_INBOX_USER = MaybeRow.named("invite_inbox_user")
"""sql/queries/users/persons.sql:7: Address of a person for whom a link was made; none where there
is no such person.
"""
ASK_INBOX_RESET = MaybeRow.named("ask_inbox_reset")
"""sql/queries/users/persons.sql:11: Address of a person who asked for a link; none where no link is
made.
"""
TAKE_LOGIN_MAIL = OneRow.named("take_login_mail")
"""sql/queries/users/persons.sql:15: Why a mail with a link may not be sent now, and for how long;
both NULL where it may, which counts it.
"""
FIND_INBOX_LINK = MaybeRow.named("find_inbox_link")
"""sql/queries/users/persons.sql:19: Address of the person of a valid link."""
SET_INBOX_PASSWORD = MaybeRow.named("set_inbox_password")
"""sql/queries/users/persons.sql:23: Address of the person whose password was set by a valid link.
"""
FIND_INBOX_LOGIN = MaybeRow.named("find_inbox_login")
"""sql/queries/users/persons.sql:27: The password of the person with an address, and whether the
browser is known.
"""
BEGIN_INBOX_SESSION = MaybeRow.named("begin_inbox_session")
"""sql/queries/users/persons.sql:32: Id of a new session; none if the password is no longer the one
that was verified.
"""
FIND_INBOX_SESSION = MaybeRow.named("find_inbox_session")
"""sql/queries/users/persons.sql:38: The valid session of a token, with its person."""
LIST_INBOX_SESSIONS = ManyRows.named("list_inbox_sessions")
"""sql/queries/users/persons.sql:43: Sessions of a person that may still be used, the latest used
first.
"""
END_INBOX_SESSIONS = OneValue.named("end_inbox_sessions")
"""sql/queries/users/persons.sql:48: How many sessions of a person ended: one, or all of them for
NULL.
"""
CHANGE_INBOX_PASSWORD = OneValue.named("change_inbox_password")
"""sql/queries/users/persons.sql:52: Whether the password of a person was replaced."""
