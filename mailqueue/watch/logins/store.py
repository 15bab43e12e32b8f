"""Links, passwords and sessions of persons as rows."""

from datetime import datetime, timedelta
from uuid import UUID

from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.statements.users import persons as sql
from mailqueue.watch.logins.model import (
    LinkKind,
    ListedPersonSession,
    LoginMailTurn,
    PersonLogin,
    PersonSession,
    PersonsProject,
)


async def find_project(conn: Conn, name: str) -> PersonsProject | None:
    """Return the project of that name; None if there is none."""
    return await fetch.maybe(conn, sql.FIND_PERSONS_PROJECT, {"name": name}, PersonsProject)


async def invite(
    conn: Conn, project_id: UUID, user_id: UUID, *, token: bytes, until: datetime, by: str
) -> str | None:
    """Add a link of a person; return the address, or None where there is no such person."""
    values = {"project_id": project_id, "id": user_id, "token": token, "until": until, "by": by}
    return await fetch.maybe(conn, sql.INVITE_INBOX_USER, values, str)


async def ask_reset(
    conn: Conn, project_id: UUID, email: str, *, token: bytes, until: datetime
) -> str | None:
    """Add a link of the person with an address; return the address, or None if none is made."""
    values = {"project_id": project_id, "email": email, "token": token, "until": until}
    return await fetch.maybe(conn, sql.ASK_INBOX_RESET, values, str)


async def take_mail(conn: Conn, project_id: UUID, email: str, *, kind: LinkKind) -> LoginMailTurn:
    """Count a mail with a link to an address, if it may be sent now."""
    values = {"project_id": project_id, "email": email, "kind": kind}
    return await fetch.one(conn, sql.TAKE_LOGIN_MAIL, values, LoginMailTurn)


async def find_link(conn: Conn, project_id: UUID, token: bytes) -> str | None:
    """Return the address of the person of a valid link."""
    values = {"project_id": project_id, "token": token}
    return await fetch.maybe(conn, sql.FIND_INBOX_LINK, values, str)


async def set_password(
    conn: Conn, project_id: UUID, *, token: bytes, password_hash: str
) -> str | None:
    """Set a password by a valid link; return the address of its person."""
    values = {"project_id": project_id, "token": token, "password_hash": password_hash}
    return await fetch.maybe(conn, sql.SET_INBOX_PASSWORD, values, str)


async def change_password(
    conn: Conn, project_id: UUID, user_id: UUID, *, session: UUID, old: str, new: str
) -> bool:
    """Replace the password that was verified; return False if it was replaced meanwhile."""
    values = {"project_id": project_id, "user_id": user_id, "session": session}
    return await fetch.value(
        conn, sql.CHANGE_INBOX_PASSWORD, values | {"old": old, "new": new}, bool
    )


async def find_login(
    conn: Conn, project_id: UUID, email: str, *, browser: bytes
) -> PersonLogin | None:
    """Return the password of the person with an address; None without one."""
    values = {"project_id": project_id, "email": email, "browser": browser}
    return await fetch.maybe(conn, sql.FIND_INBOX_LOGIN, values, PersonLogin)


async def begin_session(
    conn: Conn,
    project_id: UUID,
    user_id: UUID,
    *,
    password_hash: str,
    token: bytes,
    browser: bytes,
    address: str | None,
    user_agent: str | None,
    lasts: timedelta,
) -> UUID | None:
    """Insert a session; None if the password was replaced, or the person removed, meanwhile."""
    values = {"project_id": project_id, "user_id": user_id, "password_hash": password_hash}
    client = {"token": token, "browser": browser, "address": address, "user_agent": user_agent}
    return await fetch.maybe(
        conn, sql.BEGIN_INBOX_SESSION, values | client | {"lasts": lasts}, UUID
    )


async def find_session(
    conn: Conn, project_id: UUID, token: bytes, *, idle: timedelta
) -> PersonSession | None:
    """Return the valid session of a token."""
    values = {"project_id": project_id, "token": token, "idle": idle}
    return await fetch.maybe(conn, sql.FIND_INBOX_SESSION, values, PersonSession)


async def list_sessions(
    conn: Conn, project_id: UUID, user_id: UUID, *, idle: timedelta
) -> list[ListedPersonSession]:
    """Return the sessions of a person that may still be used, the latest used first."""
    values = {"project_id": project_id, "user_id": user_id, "idle": idle}
    return await fetch.many(conn, sql.LIST_INBOX_SESSIONS, values, ListedPersonSession)


async def end_sessions(conn: Conn, project_id: UUID, user_id: UUID, *, session: UUID | None) -> int:
    """End one session of a person, or all; return how many had not ended."""
    values = {"project_id": project_id, "user_id": user_id, "session": session}
    return await fetch.value(conn, sql.END_INBOX_SESSIONS, values, int)
