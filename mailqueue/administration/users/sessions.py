"""Log in with a password, and find, list and end sessions."""

import asyncio
import hashlib
import ipaddress
import secrets
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from mailqueue.administration.users import store
from mailqueue.administration.users.model import (
    BegunSession,
    ListedSession,
    LoginSource,
    Session,
)
from mailqueue.administration.users.passwords import Passwords, check_password
from mailqueue.core.errors import InvalidField, NotFound, TooManyRequests, Unauthorized
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn, Lend
from mailqueue.tenants.keys import text as keys_text

IDLE = timedelta(hours=2)
"""How long a session is valid without a request."""
LASTS = timedelta(hours=12)
"""How long a session is valid at most."""
ATTEMPT_SECONDS = 5.0
"""Seconds between attempts of one client that has used up its burst."""
ATTEMPT_BURST = 10
"""Attempts of one client that need not wait."""
ATTEMPT_WAIT_SECONDS = 30.0
"""Seconds that an attempt waits at most for its turn; later ones are refused."""
MAX_WAITING = 200
"""Attempts that wait in this process; further ones are refused."""
WRONG = "name or password is wrong"
_NO_LINK = ("valid link", "at this address: it was used, replaced, or is too old")


@dataclass(slots=True)
class Logins:
    """Logs users in, and sets passwords.

    An attempt is counted for the network it comes from, or, if the user logged in with the same
    browser before, for that browser. Attempts beyond the rate wait for their turn, so that no
    number of them locks out a user with the right password.
    """

    lend: Lend
    passwords: Passwords
    _waiting: int = 0

    async def log_in(self, name: str, password: str, client: LoginSource) -> BegunSession:
        """Begin a session.

        Raises:
            Unauthorized: the name or the password is wrong.
            TooManyRequests: too many attempts come from this client.
            Unavailable: too many people log in at the same time.
        """
        browser_hash = _hash(client.browser)
        async with self.lend() as conn:
            found = await store.find_login(conn, name, browser_hash=browser_hash)
        is_known = found is not None and found.is_known_browser and client.browser is not None
        await self._wait_for_turn(browser_hash if is_known else _network_hash(client.address))
        is_right = await self.passwords.verify(
            None if found is None else found.password_hash, password, is_known_browser=is_known
        )
        if found is None or not is_right:
            raise Unauthorized(WRONG)
        # A new token for each login, so that a session fixed in advance is never used.
        begun = BegunSession(
            _new_token(), client.browser if is_known and client.browser else _new_token()
        )
        async with self.lend() as conn:
            session = await store.begin_session(
                conn,
                found,
                token_hash=_hash(begun.token),
                browser_hash=_hash(begun.browser),
                address=client.address,
                user_agent=client.user_agent,
                lasts=LASTS,
            )
        if session is None:
            raise Unauthorized(WRONG)
        return begun

    async def set_password(self, token: str, password: str) -> str:
        """Set a password by a link, which is used up; return the name of the user.

        Raises:
            NotFound: the link was used, replaced, or has ended.
            InvalidField: the password is easily guessed.
        """
        async with self.lend() as conn:
            name = await name_of_link(conn, token)
        check_password(password, name=name)
        password_hash = await self.passwords.hash(password)
        async with self.lend() as conn:
            if not await store.set_password_by_link(conn, keys_text.hash_of(token), password_hash):
                raise NotFound(*_NO_LINK)
        return name

    async def change_password(self, session: Session, *, current: str, new: str) -> None:
        """Replace the password of a user, whose other sessions end.

        Raises:
            InvalidField: the current password is wrong, or the new one easily guessed.
            TooManyRequests: too many wrong passwords were given.
        """
        check_password(new, name=session.name)
        await self._wait_for_turn(hashlib.sha256(session.user_id.bytes).digest())
        async with self.lend() as conn:
            found = await store.find_login(conn, session.name, browser_hash=b"")
        known = None if found is None else found.password_hash
        if not await self.passwords.verify(known, current, is_known_browser=True):
            raise InvalidField("current", "is not your password")
        password_hash = await self.passwords.hash(new)
        async with self.lend() as conn:
            await store.change_password(
                conn, session.user_id, session=session.session_id, password_hash=password_hash
            )

    async def _wait_for_turn(self, client_hash: bytes) -> None:
        async with self.lend() as conn:
            wait = await store.take_attempt(
                conn,
                client_hash,
                seconds=ATTEMPT_SECONDS,
                burst=ATTEMPT_BURST,
                wait=ATTEMPT_WAIT_SECONDS,
            )
        if wait is None or (wait and self._waiting >= MAX_WAITING):
            raise TooManyRequests(
                "too many attempts to log in come from here", timedelta(seconds=ATTEMPT_SECONDS)
            )
        if wait:
            self._waiting += 1
            try:
                await asyncio.sleep(wait)
            finally:
                self._waiting -= 1


async def find(conn: Conn, token: Secret, *, is_use: bool = True) -> Session | None:
    """Return the valid session of a token; `is_use` False for what a page asks for by itself."""
    return await store.find_session(conn, _hash(token), idle=IDLE, is_use=is_use)


async def list_of(conn: Conn, user: UUID) -> list[ListedSession]:
    """Return the sessions of a user that may still be used, the latest used first."""
    return await store.list_sessions(conn, user, idle=IDLE)


async def end(conn: Conn, user: UUID, session: UUID, *, by: str) -> None:
    """End a session of a user.

    Raises:
        NotFound: the user has no such session, or it has ended.
    """
    if await store.end_sessions(conn, user, session=session, by=by) == 0:
        raise NotFound("session", session)


async def end_all(conn: Conn, user: UUID, *, by: str) -> int:
    """End all sessions of a user; return how many there were."""
    return await store.end_sessions(conn, user, session=None, by=by)


async def name_of_link(conn: Conn, token: str) -> str:
    """Return the name of the user who may set a password by a link.

    Raises:
        NotFound: the link was used, replaced, or has ended.
    """
    name = await store.find_link(conn, keys_text.hash_of(token)) if _is_link(token) else None
    if name is None:
        raise NotFound(*_NO_LINK)
    return name


def _is_link(token: str) -> bool:
    return len(token) < 100 and token.isascii() and keys_text.has_checksum(token)


def _new_token() -> Secret:
    return Secret(secrets.token_urlsafe(32))


def _hash(token: Secret | None) -> bytes:
    return hashlib.sha256(b"" if token is None else token.reveal().encode()).digest()


def _network_hash(address: str | None) -> bytes:
    """Return the hash of the network of an address: IPv6 clients choose the last 64 bits."""
    try:
        found = ipaddress.ip_address(address or "")
    except ValueError:
        return hashlib.sha256(b"unknown").digest()
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    bits = 64 if found.version == 6 else 32
    network = ipaddress.ip_network((found, bits), strict=False)
    return hashlib.sha256(str(network).encode()).digest()
