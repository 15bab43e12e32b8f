"""SQL of the console's users."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from mailqueue.administration.users.model import ListedSession, Login, SeenProject, Session
from mailqueue.contract.administration import ConsoleUser
from mailqueue.db.fetch import Conn, many, maybe, value
from mailqueue.db.refusals import refusals


async def add(
    conn: Conn,
    name: str,
    *,
    role: str,
    sees_all: bool,
    projects: Sequence[str],
    link_hash: bytes,
    until: datetime,
    by: str,
) -> UUID:
    """Insert a user.

    Raises:
        InvalidField: the name is empty or in use, or role and projects do not fit.
    """
    params = {"name": name, "role": role, "sees_all": sees_all, "projects": list(projects)}
    with refusals(otherwise=""):
        return await value(
            conn, "add_console_user", params | {"link": link_hash, "until": until, "by": by}, UUID
        )


async def first_link(conn: Conn, link_hash: bytes, *, until: datetime, by: str) -> str | None:
    """Renew the link of the first superadmin; return the name, None once one has a password."""
    return await maybe(
        conn, "first_console_link", {"link": link_hash, "until": until, "by": by}, str
    )


async def link(conn: Conn, name: str, link_hash: bytes, *, until: datetime, by: str) -> bool:
    """Replace the link of a user; return False if there is no such user."""
    params = {"name": name, "link": link_hash, "until": until, "by": by}
    return await value(conn, "link_console_user", params, bool)


async def find_link(conn: Conn, link_hash: bytes) -> str | None:
    """Return the name of the user of a valid link."""
    return await maybe(conn, "find_console_link", {"link": link_hash}, str)


async def set_password_by_link(conn: Conn, link_hash: bytes, password_hash: str) -> str | None:
    """Set a password by a valid link; return the name of its user."""
    params = {"link": link_hash, "password_hash": password_hash}
    return await maybe(conn, "set_password_by_link", params, str)


async def change_password(conn: Conn, user: UUID, *, session: UUID, password_hash: str) -> bool:
    """Replace a password and end the other sessions; return False if there is no such user."""
    params = {"user": user, "session": session, "password_hash": password_hash}
    return await value(conn, "change_console_password", params, bool)


async def remove(conn: Conn, name: str, *, by: str) -> bool:
    """Remove a user; return False if there is no such user."""
    return await value(conn, "remove_console_user", {"name": name, "by": by}, bool)


async def list_users(conn: Conn) -> list[ConsoleUser]:
    """Return users by name, removed ones last."""
    return await many(conn, "list_console_users", None, ConsoleUser)


async def find_login(conn: Conn, name: str, *, browser_hash: bytes) -> Login | None:
    """Return the password of the user of that name; None without one."""
    return await maybe(conn, "find_console_login", {"name": name, "browser": browser_hash}, Login)


async def take_attempt(
    conn: Conn, client_hash: bytes, *, seconds: float, burst: int, wait: float
) -> float | None:
    """Count an attempt; return the seconds until it may be judged, None if there are too many."""
    params = {"client": client_hash, "seconds": seconds, "burst": burst, "wait": wait}
    return await maybe(conn, "take_console_attempt", params, float)


async def begin_session(
    conn: Conn,
    login: Login,
    *,
    token_hash: bytes,
    browser_hash: bytes,
    address: str | None,
    user_agent: str | None,
    lasts: timedelta,
) -> UUID | None:
    """Insert a session; None if the password was replaced or the user removed meanwhile."""
    params = {"user": login.user_id, "password_hash": login.password_hash, "token": token_hash}
    client = {"browser": browser_hash, "address": address, "user_agent": user_agent}
    return await maybe(conn, "begin_console_session", params | client | {"lasts": lasts}, UUID)


async def find_session(
    conn: Conn, token_hash: bytes, *, idle: timedelta, is_use: bool
) -> Session | None:
    """Return the valid session of a token; `is_use` is whether its idle time begins anew."""
    params = {"token": token_hash, "idle": idle, "is_use": is_use}
    return await maybe(conn, "find_console_session", params, Session)


async def list_sessions(conn: Conn, user: UUID, *, idle: timedelta) -> list[ListedSession]:
    """Return the sessions of a user that may still be used, the latest used first."""
    params = {"user": user, "idle": idle}
    return await many(conn, "list_console_sessions", params, ListedSession)


async def end_sessions(conn: Conn, user: UUID, *, session: UUID | None, by: str) -> int:
    """End one session of a user, or all; return how many had not ended."""
    params = {"user": user, "session": session, "by": by}
    return await value(conn, "end_console_sessions", params, int)


async def list_projects(
    conn: Conn, user: UUID, *, text: str | None, after: str | None, limit: int
) -> list[SeenProject]:
    """Return the projects that a user sees, by name."""
    params = {"user": user, "text": text, "after": after, "limit": limit}
    return await many(conn, "list_projects_of_user", params, SeenProject)


async def find_project(conn: Conn, user: UUID, name: str) -> SeenProject | None:
    """Return a project that a user sees, by name."""
    return await maybe(conn, "find_project_of_user", {"user": user, "name": name}, SeenProject)


async def find_email(conn: Conn, user: UUID, email_id: UUID) -> str | None:
    """Return the name of the project of an email that a user sees."""
    return await maybe(conn, "find_email_of_user", {"user": user, "id": email_id}, str)


async def take_action(conn: Conn, token_hash: bytes) -> bool:
    """Use up the token of a form; return False if it was used before."""
    return await value(conn, "take_console_action", {"token": token_hash}, bool)
