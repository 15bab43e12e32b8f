"""Log in with a password or at an issuer, and find, list and end sessions."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from mailqueue.admin.users import grants, store
from mailqueue.admin.users.attempts import ISSUER, Attempts
from mailqueue.admin.users.beginning import begin_session, hash_of, network_hash
from mailqueue.admin.users.model import (
    BegunSession,
    CodeNeeded,
    ListedSession,
    LoginSource,
    Session,
)
from mailqueue.admin.users.passwords import Passwords, check_password
from mailqueue.admin.users.proofs import NOT_YOURS, Proofs, use
from mailqueue.admin.users.second_factor import unfinished
from mailqueue.core.errors import (
    Forbidden,
    InvalidField,
    NotFound,
    Unauthorized,
)
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn, Lend
from mailqueue.ports.identity import IssuerIdentity
from mailqueue.projects.keys import text as keys_text
from mailqueue.settings.oidc import GroupRule
from mailqueue.telemetry.log import get_logger
from mailqueue.vault.masterkey import MasterKey

log = get_logger(__name__)

IDLE = timedelta(hours=2)
"""How long a session is valid without a request."""
CONFIRMED = timedelta(minutes=10)
"""How long a login or a confirmation counts for destructive acts."""
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
    attempts: Attempts
    proofs: Proofs

    async def log_in(
        self, name: str, password: str, client: LoginSource
    ) -> BegunSession | CodeNeeded:
        """Begin a session, or ask for a code where the user has a second factor.

        Raises:
            Unauthorized: the name or the password is wrong.
            TooManyRequests: too many attempts come from this client.
            Unavailable: too many people log in at the same time, or there is no master key.
        """
        browser_hash = hash_of(client.browser)
        async with self.lend() as conn:
            found = await store.find_login(conn, name, browser_hash=browser_hash)
        is_known = found is not None and found.is_known_browser and client.browser is not None
        await self.attempts.wait_for_turn(
            browser_hash if is_known else network_hash(client.address)
        )
        is_right = await self.passwords.verify(
            None if found is None else found.password_hash, password, is_known_browser=is_known
        )
        if found is None or not is_right:
            raise Unauthorized(WRONG)
        if found.has_second_factor:
            master, now = self.proofs.master(), self.proofs.now()
            return CodeNeeded(unfinished.keep(master, found.user_id, found.password_hash, now=now))
        async with self.lend() as conn:
            begun = await begin_session(
                conn, found.user_id, client, found.password_hash, is_known=is_known
            )
        if begun is None:
            raise Unauthorized(WRONG)
        return begun

    async def log_in_at_issuer(
        self, identity: IssuerIdentity, rules: Sequence[GroupRule], client: LoginSource
    ) -> BegunSession:
        """Begin a session of a person whom an issuer has identified.

        The user is added at the first login, and gets role and projects anew with each.

        Raises:
            Forbidden: no rule fits the person, or the user was removed here.
        """
        grant = grants.granted(identity.values, rules)
        async with self.lend() as conn:
            user = await store.find_user_of_issuer(
                conn,
                identity.issuer,
                identity.subject,
                names=grants.names_of(identity),
                grant=grant,
            )
            begun = None
            if user is not None:
                begun = await begin_session(conn, user, client, None, is_known=False)
        if begun is None:
            log.warning("console.refused", issuer=identity.issuer, subject=identity.subject)
            raise Forbidden("a role in this console", "ask an administrator for one")
        return begun

    async def confirm(self, session: Session, password: str, code: str = "") -> None:
        """Let a session do destructive acts for a while, by the user's password.

        Users with a second factor give a code too, which is used up.

        Raises:
            InvalidField: the password or the code is wrong; it is not said which.
            TooManyRequests: too many wrong ones were given.
            Unavailable: the second factor cannot be opened.
        """
        proof = await self.proofs.whole(session, password, code)
        async with self.lend() as conn, conn.transaction():
            await use(conn, session, proof)
            if not await store.confirm_session(
                conn,
                session.session_id,
                password_hash=proof.password_hash,
                is_whole=proof.code is not None,
            ):
                raise InvalidField("password", NOT_YOURS)

    async def confirm_at_issuer(self, session: Session, identity: IssuerIdentity) -> None:
        """Let a session do destructive acts for a while, by a new login at the issuer.

        Raises:
            Unauthorized: another person has logged in there.
        """
        async with self.lend() as conn:
            is_user = await store.confirm_session(
                conn, session.session_id, issuer=identity.issuer, subject=identity.subject
            )
        if not is_user:
            raise Unauthorized("another person has logged in at the issuer")

    async def wait_for_turn(self, client: LoginSource) -> None:
        """Wait until a login at an issuer may be judged, so that no number of them overloads it.

        Raises:
            TooManyRequests: too many logins come from this network.
        """
        network = hashlib.sha256(b"issuer " + network_hash(client.address)).digest()
        await self.attempts.wait_for_turn(network, ISSUER)

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
        await self.proofs.password(session, current, field="current")
        password_hash = await self.passwords.hash(new)
        async with self.lend() as conn:
            await store.change_password(
                conn, session.user_id, session=session.session_id, password_hash=password_hash
            )


def make_logins(
    lend: Lend,
    passwords: Passwords,
    read_master: Callable[[], MasterKey | None] = lambda: None,
) -> Logins:
    """Return logins by passwords, and by codes under a master key."""
    attempts = Attempts(lend)
    return Logins(lend, passwords, attempts, Proofs(lend, passwords, attempts, read_master))


async def find(conn: Conn, token: Secret, *, is_use: bool = True) -> Session | None:
    """Return the valid session of a token; `is_use` False for what a page asks for by itself."""
    return await store.find_session(
        conn, hash_of(token), idle=IDLE, recent=CONFIRMED, is_use=is_use
    )


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
