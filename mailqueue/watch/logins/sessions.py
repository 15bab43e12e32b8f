"""Log persons in with a password; find, list and end their sessions."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from mailqueue.admin.users.attempts import Attempts
from mailqueue.admin.users.beginning import hash_of, network_hash
from mailqueue.admin.users.model import BegunSession, LoginSource
from mailqueue.admin.users.passwords import Passwords, check_password
from mailqueue.core.errors import InvalidField, NotFound, Unauthorized
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn, Lend
from mailqueue.projects.actor import act_for
from mailqueue.projects.keys import text as keys_text
from mailqueue.watch.logins import links, store
from mailqueue.watch.logins.model import (
    ListedPersonSession,
    PersonLogin,
    PersonSession,
    PersonsProject,
)

LASTS = timedelta(days=14)
"""How long a session is valid at most."""
IDLE = timedelta(days=1)
"""How long a session is valid without a request."""
WRONG = "address or password is wrong"
_BY = "inbox pages"


@dataclass(slots=True)
class PersonLogins:
    """Logs persons in, and sets their passwords.

    Attempts are counted and slowed as those of the console are, apart from them: for the network
    they come from, or for a browser in which the person has logged in before.
    """

    lend: Lend
    passwords: Passwords
    attempts: Attempts

    async def log_in(
        self, project: PersonsProject | None, email: str, password: str, client: LoginSource
    ) -> BegunSession:
        """Begin a session; a project that does not exist (None) has no persons.

        Raises:
            Unauthorized: the address or the password is wrong.
            TooManyRequests: too many attempts come from this client.
            Unavailable: too many people log in at the same time.
        """
        found = None if project is None else await self._login_of(project.id, email, client)
        is_known = found is not None and found.is_known_browser and client.browser is not None
        await self._wait(hash_of(client.browser) if is_known else network_hash(client.address))
        is_right = await self.passwords.verify(
            None if found is None else found.password_hash, password, is_known_browser=is_known
        )
        if project is None or found is None or not is_right:
            raise Unauthorized(WRONG)
        # A new token for each login, so that a session fixed in advance is never used.
        kept = client.browser if is_known and client.browser else _new_token()
        begun = BegunSession(_new_token(), kept)
        async with self.lend() as conn, conn.transaction():
            await act_for(conn, project.id, by=_BY)
            session = await store.begin_session(
                conn,
                project.id,
                found.user_id,
                password_hash=found.password_hash,
                token=hash_of(begun.token),
                browser=hash_of(begun.browser),
                address=client.address,
                user_agent=client.user_agent,
                lasts=LASTS,
            )
        if session is None:
            raise Unauthorized(WRONG)
        return begun

    async def wait_to_ask(self, client: LoginSource) -> None:
        """Wait until a link may be asked for, which counts as an attempt to log in.

        Raises:
            TooManyRequests: too many attempts come from this client.
        """
        await self._wait(network_hash(client.address))

    async def ask_reset(self, project: PersonsProject | None, email: str, *, origin: str) -> bool:
        """Mail a link to a person; return whether one was mailed: see `links.ask_reset`.

        Raises:
            TooManyRequests: too many were mailed to the person, or by the project.
            InvalidField: the project cannot send the mail.
        """
        if project is None:
            return False
        async with self.lend() as conn, conn.transaction():
            await act_for(conn, project.id, by=_BY)
            return await links.ask_reset(conn, project, email, origin=origin)

    async def email_of_link(self, project: PersonsProject | None, token: str) -> str:
        """Return the address of the person who may set a password by a link, which stays valid.

        Raises:
            NotFound: the link was used, or has ended, or there is no such project (None).
        """
        if project is None:
            raise NotFound(*links.NO_LINK)
        async with self.lend() as conn, conn.transaction():
            await act_for(conn, project.id, by=_BY)
            return await links.email_of_link(conn, project.id, token)

    async def set_password(self, project: PersonsProject | None, token: str, password: str) -> str:
        """Set a password by a link, which is used up; return the address of the person.

        Raises:
            NotFound: the link was used, or has ended, or there is no such project (None).
            InvalidField: the password is easily guessed.
        """
        email = await self.email_of_link(project, token)
        assert project is not None, "a valid link is one of a project"
        check_password(password, name=email)
        password_hash = await self.passwords.hash(password)
        async with self.lend() as conn, conn.transaction():
            await act_for(conn, project.id, by=_BY)
            if not await store.set_password(
                conn,
                project.id,
                token=keys_text.hash_of(token),
                password_hash=password_hash,
            ):
                raise NotFound(*links.NO_LINK)
        return email

    async def change_password(
        self, project: PersonsProject, session: PersonSession, *, current: str, new: str
    ) -> None:
        """Replace the password of a person, whose other sessions end.

        Raises:
            InvalidField: the current password is wrong, or the new one easily guessed.
            TooManyRequests: too many wrong passwords were given.
        """
        check_password(new, name=session.email)
        await self._wait(hashlib.sha256(session.user_id.bytes).digest())
        found = await self._login_of(project.id, session.email, LoginSource(None, None, None))
        known = None if found is None else found.password_hash
        if not await self.passwords.verify(known, current, is_known_browser=True) or not known:
            raise InvalidField("current", "is not your password")
        made = await self.passwords.hash(new)
        async with self.lend() as conn, conn.transaction():
            await act_for(conn, project.id, by=session.by)
            is_done = await store.change_password(
                conn, project.id, session.user_id, session=session.session_id, old=known, new=made
            )
        if not is_done:
            raise InvalidField("current", "is not your password")

    async def _login_of(
        self, project_id: UUID, email: str, client: LoginSource
    ) -> PersonLogin | None:
        async with self.lend() as conn, conn.transaction():
            await act_for(conn, project_id, by=_BY)
            return await store.find_login(conn, project_id, email, browser=hash_of(client.browser))

    async def _wait(self, client: bytes) -> None:
        await self.attempts.wait_for_turn(hashlib.sha256(b"inbox " + client).digest())


async def find(conn: Conn, project_id: UUID, token: Secret) -> PersonSession | None:
    """Return the valid session of a token in a project."""
    return await store.find_session(conn, project_id, hash_of(token), idle=IDLE)


async def is_of(conn: Conn, project_id: UUID, user_id: UUID, token: Secret | None) -> bool:
    """Return whether a session is valid and a person's; what needs none (None) always is."""
    if token is None:
        return True
    session = await find(conn, project_id, token)
    return session is not None and session.user_id == user_id


async def list_of(conn: Conn, project_id: UUID, user_id: UUID) -> list[ListedPersonSession]:
    """Return the sessions of a person that may still be used, the latest used first."""
    return await store.list_sessions(conn, project_id, user_id, idle=IDLE)


async def end(conn: Conn, project_id: UUID, user_id: UUID, session: UUID) -> None:
    """End a session of a person.

    Raises:
        NotFound: the person has no such session, or it has ended.
    """
    if await store.end_sessions(conn, project_id, user_id, session=session) == 0:
        raise NotFound("session", session)


def _new_token() -> Secret:
    return Secret(secrets.token_urlsafe(32))
