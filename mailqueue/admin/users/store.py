"""SQL of the console's users."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from mailqueue.admin.users.model import (
    GrantedRole,
    ListedSession,
    Login,
    SeenProject,
    Session,
    SessionAccess,
)
from mailqueue.contract.admin import ConsoleUser, ProjectMember
from mailqueue.db.fetch import Conn, many, maybe, value
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.users import users as sql


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
            conn, sql.ADD_CONSOLE_USER, params | {"link": link_hash, "until": until, "by": by}, UUID
        )


async def first_link(conn: Conn, link_hash: bytes, *, until: datetime, by: str) -> str | None:
    """Renew the link of the first superadmin; return the name, None once one has a password."""
    return await maybe(
        conn, sql.FIRST_CONSOLE_LINK, {"link": link_hash, "until": until, "by": by}, str
    )


async def link(conn: Conn, name: str, link_hash: bytes, *, until: datetime, by: str) -> bool:
    """Replace the link of a user; return False if there is no such user."""
    params = {"name": name, "link": link_hash, "until": until, "by": by}
    return await value(conn, sql.LINK_CONSOLE_USER, params, bool)


async def reset(conn: Conn, name: str, link_hash: bytes, *, until: datetime, by: str) -> bool:
    """Replace the link that a user asked for; return False if no such user has a password here."""
    params = {"name": name, "link": link_hash, "until": until, "by": by}
    return await value(conn, sql.RESET_CONSOLE_USER, params, bool)


async def find_link(conn: Conn, link_hash: bytes) -> str | None:
    """Return the name of the user of a valid link."""
    return await maybe(conn, sql.FIND_CONSOLE_LINK, {"link": link_hash}, str)


async def set_password_by_link(conn: Conn, link_hash: bytes, password_hash: str) -> str | None:
    """Set a password by a valid link; return the name of its user."""
    params = {"link": link_hash, "password_hash": password_hash}
    return await maybe(conn, sql.SET_PASSWORD_BY_LINK, params, str)


async def change_password(conn: Conn, user: UUID, *, session: UUID, password_hash: str) -> bool:
    """Replace a password and end the other sessions; return False if there is no such user."""
    params = {"user": user, "session": session, "password_hash": password_hash}
    return await value(conn, sql.CHANGE_CONSOLE_PASSWORD, params, bool)


async def change(
    conn: Conn,
    name: str,
    *,
    role: str | None,
    sees_all: bool | None,
    projects: Sequence[str] | None,
    by: str,
) -> bool:
    """Change what is not None; return False if there is no such user.

    Raises:
        InvalidField: role and projects do not fit, or the user logs in at an issuer.
    """
    params = {"name": name, "role": role, "sees_all": sees_all, "by": by}
    listed = None if projects is None else list(projects)
    with refusals(otherwise=""):
        return await value(conn, sql.CHANGE_CONSOLE_USER, params | {"projects": listed}, bool)


async def remove(conn: Conn, name: str, *, by: str) -> bool:
    """Remove a user; return False if there is no such user."""
    return await value(conn, sql.REMOVE_CONSOLE_USER, {"name": name, "by": by}, bool)


async def list_users(conn: Conn) -> list[ConsoleUser]:
    """Return users by name, removed ones last."""
    return await many(conn, sql.LIST_CONSOLE_USERS, None, ConsoleUser)


async def find_user_of_issuer(
    conn: Conn,
    issuer: str,
    subject: str,
    *,
    names: Sequence[str],
    grant: GrantedRole | None,
) -> UUID | None:
    """Return the user with this subject, with the grant of this login; None if it may not log in.

    A new user gets the first free name.
    """
    params = {"issuer": issuer, "subject": subject, "names": list(names)}
    granted = {
        "role": grant and grant.role,
        "sees_all": grant is not None and not grant.projects,
        "projects": list(grant.projects) if grant else [],
    }
    return await maybe(conn, sql.FIND_USER_OF_ISSUER, params | granted, UUID)


async def list_members(
    conn: Conn,
    project: UUID,
    *,
    limit: int,
    after: str | None = None,
    user: UUID | None = None,
    name: str | None = None,
) -> list[ProjectMember]:
    """Return the members of a project by name, from the one behind `after`; or one by id or name.

    Names are compared in lower case.
    """
    params = {"project": project, "limit": limit, "after": after, "user": user, "name": name}
    return await many(conn, sql.LIST_CONSOLE_MEMBERS, params, ProjectMember)


async def remove_member(conn: Conn, project: UUID, user: UUID, *, by: str) -> bool:
    """Take a project from a user; return False if the user is no member.

    Raises:
        InvalidField: the issuer at which the user logs in says which projects the user sees.
    """
    params = {"project": project, "user": user, "by": by}
    with refusals(otherwise=""):
        return await value(conn, sql.REMOVE_CONSOLE_MEMBER, params, bool)


async def find_login(conn: Conn, name: str, *, browser_hash: bytes) -> Login | None:
    """Return the password of the user of that name; None without one."""
    return await maybe(conn, sql.FIND_CONSOLE_LOGIN, {"name": name, "browser": browser_hash}, Login)


async def take_attempt(
    conn: Conn, client_hash: bytes, *, seconds: float, burst: int, wait: float
) -> float | None:
    """Count an attempt; return the seconds until it may be judged, None if there are too many."""
    params = {"client": client_hash, "seconds": seconds, "burst": burst, "wait": wait}
    return await maybe(conn, sql.TAKE_CONSOLE_ATTEMPT, params, float)


async def begin_session(
    conn: Conn,
    user: UUID,
    *,
    password_hash: str | None,
    token_hash: bytes,
    browser_hash: bytes,
    address: str | None,
    user_agent: str | None,
    lasts: timedelta,
    is_whole: bool,
) -> UUID | None:
    """Insert a session; None if the password was replaced or the user removed meanwhile.

    `password_hash` is that of the password verified, None after a login at an issuer. `is_whole` is
    whether a code was verified too: without it users with a second factor have no session.
    """
    params = {"user": user, "password_hash": password_hash, "token": token_hash}
    client = {"browser": browser_hash, "address": address, "user_agent": user_agent}
    whole = {"lasts": lasts, "is_whole": is_whole}
    return await maybe(conn, sql.BEGIN_CONSOLE_SESSION, params | client | whole, UUID)


async def find_session(
    conn: Conn, token_hash: bytes, *, idle: timedelta, recent: timedelta, is_use: bool
) -> Session | None:
    """Return the valid session of a token; `is_use` is whether its idle time begins anew."""
    params = {"token": token_hash, "idle": idle, "recent": recent, "is_use": is_use}
    return await maybe(conn, sql.FIND_CONSOLE_SESSION, params, Session)


async def confirm_session(
    conn: Conn,
    session: UUID,
    *,
    password_hash: str | None = None,
    issuer: str | None = None,
    subject: str | None = None,
    is_whole: bool = False,
) -> bool:
    """Note a proof, a password or a login at the issuer; return False unless it is the user's.

    `is_whole` is whether a code was verified too, which users with a second factor need.
    """
    params = {"session": session, "password_hash": password_hash, "is_whole": is_whole}
    return await value(
        conn, sql.CONFIRM_CONSOLE_SESSION, params | {"issuer": issuer, "subject": subject}, bool
    )


async def recheck_sessions(
    conn: Conn, tokens: list[bytes], projects: list[str | None], *, idle: timedelta
) -> list[SessionAccess]:
    """Return what the users of valid sessions see, each by its place from 1."""
    params = {"tokens": tokens, "projects": projects, "idle": idle}
    return await many(conn, sql.RECHECK_CONSOLE_SESSIONS, params, SessionAccess)


async def list_sessions(conn: Conn, user: UUID, *, idle: timedelta) -> list[ListedSession]:
    """Return the sessions of a user that may still be used, the latest used first."""
    params = {"user": user, "idle": idle}
    return await many(conn, sql.LIST_CONSOLE_SESSIONS, params, ListedSession)


async def end_sessions(conn: Conn, user: UUID, *, session: UUID | None, by: str) -> int:
    """End one session of a user, or all; return how many had not ended."""
    params = {"user": user, "session": session, "by": by}
    return await value(conn, sql.END_CONSOLE_SESSIONS, params, int)


async def list_projects(
    conn: Conn, user: UUID, *, text: str | None, after: str | None, limit: int
) -> list[SeenProject]:
    """Return the projects that a user sees, by name."""
    params = {"user": user, "text": text, "after": after, "limit": limit}
    return await many(conn, sql.LIST_PROJECTS_OF_USER, params, SeenProject)


async def find_project(conn: Conn, user: UUID, name: str) -> SeenProject | None:
    """Return a project that a user sees, by name."""
    return await maybe(conn, sql.FIND_PROJECT_OF_USER, {"user": user, "name": name}, SeenProject)


async def take_action(conn: Conn, token_hash: bytes, form: str | None) -> bool:
    """Use up the token of a form; return False if it was used before.

    Transactions that name the same `form` wait for each other.
    """
    return await value(conn, sql.TAKE_CONSOLE_ACTION, {"token": token_hash, "form": form}, bool)
