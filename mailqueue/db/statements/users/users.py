"""The statements of sql/queries/users/users.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, OneValue

# Written by python -m tests.rules.constants --write

ADD_CONSOLE_USER = OneValue.named("add_console_user")
"""sql/queries/users/users.sql:3: Add a user of the console."""
FIRST_CONSOLE_LINK = MaybeRow.named("first_console_link")
"""sql/queries/users/users.sql:8: Renew the link of the first superadmin; NULL once a superadmin has
set a password.
"""
LINK_CONSOLE_USER = OneValue.named("link_console_user")
"""sql/queries/users/users.sql:12: Replace the link by which a user sets a password."""
RESET_CONSOLE_USER = OneValue.named("reset_console_user")
"""sql/queries/users/users.sql:16: Replace the link that a user asked for who forgot the password.
"""
FIND_CONSOLE_LINK = MaybeRow.named("find_console_link")
"""sql/queries/users/users.sql:20: Name of the user of a valid link."""
SET_PASSWORD_BY_LINK = MaybeRow.named("set_password_by_link")
"""sql/queries/users/users.sql:24: Set a password by a valid link; the name of its user."""
CHANGE_CONSOLE_PASSWORD = OneValue.named("change_console_password")
"""sql/queries/users/users.sql:28: Replace a user's password and end the user's other sessions."""
CHANGE_CONSOLE_USER = OneValue.named("change_console_user")
"""sql/queries/users/users.sql:32: Change role and projects of a user of the console; false if there
is no such user.
"""
REMOVE_CONSOLE_USER = OneValue.named("remove_console_user")
"""sql/queries/users/users.sql:37: Remove a user of the console."""
LIST_CONSOLE_USERS = ManyRows.named("list_console_users")
"""sql/queries/users/users.sql:41: Users of the console by name, removed ones last."""
LIST_CONSOLE_MEMBERS = ManyRows.named("list_console_members")
"""sql/queries/users/users.sql:47: A page of the users who see a project by its name, by their
names; or one of them.
"""
REMOVE_CONSOLE_MEMBER = OneValue.named("remove_console_member")
"""sql/queries/users/users.sql:57: Take a project from a user; false if the user is no member."""
FIND_USER_OF_ISSUER = MaybeRow.named("find_user_of_issuer")
"""sql/queries/users/users.sql:61: Id of the user who has logged in at an issuer; NULL if the user
may not log in.
"""
FIND_CONSOLE_LOGIN = MaybeRow.named("find_console_login")
"""sql/queries/users/users.sql:66: The password of a user, whether the browser is known, and whether
a second factor is on.
"""
TAKE_CONSOLE_ATTEMPT = MaybeRow.named("take_console_attempt")
"""sql/queries/users/users.sql:71: Seconds until an attempt to log in may be judged; NULL if there
are too many.
"""
BEGIN_CONSOLE_SESSION = MaybeRow.named("begin_console_session")
"""sql/queries/users/users.sql:75: Begin a session of a user; NULL if the password is no longer the
one that was verified.
"""
FIND_CONSOLE_SESSION = MaybeRow.named("find_console_session")
"""sql/queries/users/users.sql:81: The valid session of a token, with its user."""
CONFIRM_CONSOLE_SESSION = OneValue.named("confirm_console_session")
"""sql/queries/users/users.sql:88: Note a proof that the user of a session is its user; false unless
it is one.
"""
RECHECK_CONSOLE_SESSIONS = ManyRows.named("recheck_console_sessions")
"""sql/queries/users/users.sql:93: What the users of sessions see now: all projects, and each the
project asked for; no row for an ended session.
"""
LIST_CONSOLE_SESSIONS = ManyRows.named("list_console_sessions")
"""sql/queries/users/users.sql:100: Sessions of a user that may still be used, the latest used
first.
"""
END_CONSOLE_SESSIONS = OneValue.named("end_console_sessions")
"""sql/queries/users/users.sql:105: End one session of a user, or all of them for NULL."""
LIST_PROJECTS_OF_USER = ManyRows.named("list_projects_of_user")
"""sql/queries/users/users.sql:109: Projects that a user of the console sees, by name."""
FIND_PROJECT_OF_USER = MaybeRow.named("find_project_of_user")
"""sql/queries/users/users.sql:114: A project that a user of the console sees, by name."""
TAKE_CONSOLE_ACTION = OneValue.named("take_console_action")
"""sql/queries/users/users.sql:119: Use up the token of a form; false if it was used before."""
