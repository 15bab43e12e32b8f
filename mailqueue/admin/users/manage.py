"""Add, list, change and remove users of the console; make links by which they set a password."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from mailqueue.admin.users import store
from mailqueue.admin.users.model import PasswordLink
from mailqueue.admin.users.second_factor.store import reset_second_factor as _reset
from mailqueue.contract.admin import ConsoleUser
from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.projects.keys import text as keys_text

LINK_PREFIX = "mq_link_"
LINK_LASTS = timedelta(hours=24)
"""How long a link can set a password."""


async def add(
    conn: Conn,
    name: str,
    *,
    role: str,
    projects: Sequence[str] = (),
    sees_all: bool = False,
    by: str,
) -> PasswordLink:
    """Add a user of the console; return the link by which the user sets a password.

    Raises:
        InvalidField: the name is empty or in use, or role and projects do not fit.
    """
    made = _new_link(name.strip())
    await store.add(
        conn,
        name,
        role=role,
        sees_all=sees_all,
        projects=projects,
        link_hash=keys_text.hash_of(made.token.reveal()),
        until=made.until,
        by=by,
    )
    return made


async def renew_link(conn: Conn, name: str, *, by: str) -> PasswordLink:
    """Return a new link for a user, in place of the one before; the password stays until it is
    used.

    Raises:
        NotFound: there is no such user.
        InvalidField: the user logs in at an issuer.
    """
    made = _new_link(name)
    found = await store.link(
        conn, name, keys_text.hash_of(made.token.reveal()), until=made.until, by=by
    )
    if not found:
        raise NotFound("user", name)
    return made


async def reset_link(conn: Conn, name: str, *, by: str, lasts: timedelta) -> PasswordLink:
    """Return a link for a user who forgot the password, in place of the one asked for before.

    One that an administrator handed over stays valid, until either is used.

    Raises:
        NotFound: no such user has a password here.
    """
    made = _new_link(name, lasts)
    found = await store.reset(
        conn, name, keys_text.hash_of(made.token.reveal()), until=made.until, by=by
    )
    if not found:
        raise NotFound("user", name)
    return made


async def first_link(conn: Conn, *, by: str) -> PasswordLink | None:
    """Return a new link for the first superadmin, who is added if there is none.

    None once a superadmin has set a password.
    """
    made = _new_link("")
    name = await store.first_link(
        conn, keys_text.hash_of(made.token.reveal()), until=made.until, by=by
    )
    return None if name is None else PasswordLink(name, made.token, made.until)


def link_url(base: str, link: PasswordLink) -> str:
    """Return a link as people open it, at the URL of the console. Pure."""
    return f"{base}/console/welcome?link={link.token.reveal()}"


async def list_all(conn: Conn) -> list[ConsoleUser]:
    """Return users by name, removed ones last."""
    return await store.list_users(conn)


async def find(conn: Conn, name: str) -> ConsoleUser:
    """Return a user, including a removed one.

    Raises:
        NotFound: there is no such user.
    """
    for each in await store.list_users(conn):
        if each.name.lower() == name.strip().lower():
            return each
    raise NotFound("user", name)


async def change(
    conn: Conn,
    name: str,
    *,
    role: str | None = None,
    projects: Sequence[str] | None = None,
    sees_all: bool | None = None,
    reset_second_factor: bool = False,
    by: str,
) -> ConsoleUser:
    """Change the role and projects of a user, at once for open sessions; None leaves one as it is.

    With `reset_second_factor` the user's next login needs no code, and open sessions end.

    Raises:
        NotFound: there is no such user.
        InvalidField: role and projects do not fit, or the user logs in at an issuer.
    """
    async with conn.transaction():
        if reset_second_factor and not await _reset(conn, name, by=by):
            raise NotFound("user", name)
        is_more = not (role is None and projects is None and sees_all is None)
        if (is_more or not reset_second_factor) and not await store.change(
            conn, name, role=role, sees_all=sees_all, projects=projects, by=by
        ):
            raise NotFound("user", name)
    return await find(conn, name)


async def remove(conn: Conn, name: str, *, by: str) -> None:
    """Remove a user, whose sessions end at once.

    Raises:
        NotFound: there is no such user.
    """
    if not await store.remove(conn, name, by=by):
        raise NotFound("user", name)


def _new_link(name: str, lasts: timedelta = LINK_LASTS) -> PasswordLink:
    return PasswordLink(name, keys_text.new_secret(LINK_PREFIX), datetime.now(UTC) + lasts)
