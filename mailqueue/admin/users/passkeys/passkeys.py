"""Add passkeys, log in and confirm with them, and remove them.

A passkey belongs to a user with a password here, and counts as password and code together: the
device verifies its user. Users of an issuer have none, as they have no password.
"""

import hashlib
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from uuid import UUID

from mailqueue.admin.users import store as users_store
from mailqueue.admin.users.attempts import ISSUER, Attempts
from mailqueue.admin.users.beginning import begin_session, hash_of, network_hash
from mailqueue.admin.users.model import BegunSession, LoginSource, Session
from mailqueue.admin.users.passkeys import ceremony, store
from mailqueue.admin.users.passkeys.ceremony import LASTS_SECONDS, NotValid
from mailqueue.admin.users.passkeys.model import (
    Assertion,
    ListedPasskey,
    RelyingParty,
    StoredPasskey,
)
from mailqueue.core.errors import Conflict, InvalidField, NotFound, Unauthorized
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn, Lend

MAX_PASSKEYS = 20
"""Number of passkeys of a user."""
MAX_NAME_CHARACTERS = 100
TOO_LATE = "this took too long, or was sent before: begin again"
NOT_KNOWN = (
    "this passkey does not log in here: it was removed, belongs to another site or user, or did not"
    " verify that it is you"
)
COPIED = (
    "this passkey counts fewer uses than before, as a copy of it does: log in with your password,"
    " and remove it"
)
_CHALLENGE_BYTES = 32


class PasskeyAct(StrEnum):
    """What a challenge is for; one of another act is not answered by it."""

    ADD = "add"
    LOG_IN = "log in"
    CONFIRM = "confirm"


@dataclass(slots=True)
class Passkeys:
    """Passkeys of users, bound to the host name of the console."""

    lend: Lend
    attempts: Attempts
    party: RelyingParty

    async def ask_to_log_in(self, browser: Secret, client: LoginSource) -> str:
        """Return what any passkey is asked to sign, as JSON; `browser` is kept by the browser.

        Raises:
            TooManyRequests: too many ask from this network.
        """
        network = hashlib.sha256(b"passkey " + network_hash(client.address)).digest()
        await self.attempts.wait_for_turn(network, ISSUER)
        challenge = await self._new_challenge(PasskeyAct.LOG_IN, browser.reveal().encode())
        return ceremony.request_options(self.party, challenge)

    async def log_in(
        self, browser: Secret | None, answer: str, client: LoginSource
    ) -> BegunSession:
        """Begin a session by the answer of a passkey.

        Raises:
            Unauthorized: the passkey is not known, or the answer is none to the challenge.
            TooManyRequests: too many attempts come from this client.
        """
        assertion, found = await self._found(answer, client)
        is_known = found is not None and found.is_known_browser and client.browser is not None
        await self.attempts.wait_for_turn(
            hash_of(client.browser) if is_known else network_hash(client.address)
        )
        kept = b"" if browser is None else browser.reveal().encode()
        challenge = await self._taken(PasskeyAct.LOG_IN, kept)
        if found is None or assertion.user_handle != found.user_id.bytes:
            raise Unauthorized(NOT_KNOWN)
        async with self._used(found, challenge, answer, client, PasskeyAct.LOG_IN) as conn:
            begun = await begin_session(
                conn,
                found.user_id,
                client,
                found.password_hash,
                is_known=is_known,
                is_whole=True,
            )
        if begun is None:
            raise Unauthorized(NOT_KNOWN)
        return begun

    async def ask_to_confirm(self, session: Session) -> str:
        """Return what one of the user's passkeys is asked to sign, as JSON."""
        present = await self.list_of(session.user_id)
        challenge = await self._new_challenge(PasskeyAct.CONFIRM, session.session_id.bytes)
        return ceremony.request_options(self.party, challenge, present)

    async def confirm(self, session: Session, answer: str, client: LoginSource) -> None:
        """Let a session do destructive acts for a while, by the answer of a passkey of its user.

        Raises:
            Unauthorized: the passkey is not the user's, or the answer is none to the challenge.
            TooManyRequests: too many wrong ones were given.
        """
        await self.attempts.wait_for_turn(hashlib.sha256(session.user_id.bytes).digest())
        challenge = await self._taken(PasskeyAct.CONFIRM, session.session_id.bytes)
        assertion, found = await self._found(answer, client)
        if found is None or found.user_id != session.user_id:
            raise Unauthorized(NOT_KNOWN)
        if assertion.user_handle not in (None, b"", session.user_id.bytes):
            raise Unauthorized(NOT_KNOWN)
        async with self._used(found, challenge, answer, client, PasskeyAct.CONFIRM) as conn:
            is_confirmed = await users_store.confirm_session(
                conn, session.session_id, password_hash=found.password_hash, is_whole=True
            )
        if not is_confirmed:
            raise Unauthorized(NOT_KNOWN)

    async def ask_to_add(self, session: Session) -> str:
        """Return what the browser is asked to make, as JSON.

        Raises:
            Conflict: the user logs in at an issuer, or has as many passkeys as a user may have.
        """
        check_password_user(session)
        present = await self.list_of(session.user_id)
        if len(present) >= MAX_PASSKEYS:
            raise Conflict(f"a user has at most {MAX_PASSKEYS} passkeys: remove one")
        challenge = await self._new_challenge(PasskeyAct.ADD, session.session_id.bytes)
        return ceremony.creation_options(
            self.party, challenge, user=session.user_id, name=session.name, present=present
        )

    async def add(self, session: Session, name: str, answer: str) -> None:
        """Add the passkey that the browser made.

        Raises:
            InvalidField: the name does not fit, the answer is none to the challenge, or the session
                has ended meanwhile.
            Conflict: the user logs in at an issuer.
        """
        check_password_user(session)
        if not 0 < len(name) <= MAX_NAME_CHARACTERS or not name.isprintable():
            raise InvalidField("name", f"must have 1 to {MAX_NAME_CHARACTERS} characters")
        try:
            challenge = await self._taken(PasskeyAct.ADD, session.session_id.bytes)
            made = ceremony.new_passkey(self.party, challenge, answer)
        except Unauthorized as exc:
            raise InvalidField("passkey", str(exc)) from None
        except NotValid:
            raise InvalidField("passkey", "was not made for this page: begin again") from None
        async with self.lend() as conn:
            await store.add_passkey(conn, session, made, name=name, limit=MAX_PASSKEYS)

    async def list_of(self, user: UUID) -> Sequence[ListedPasskey]:
        """Return the passkeys of a user, the first one first."""
        async with self.lend() as conn:
            return await store.list_passkeys(conn, user)

    async def remove(self, session: Session, passkey: UUID) -> None:
        """Delete a passkey of a user.

        Raises:
            NotFound: the user has no such passkey.
        """
        async with self.lend() as conn:
            if not await store.remove_passkey(conn, session.user_id, passkey):
                raise NotFound("passkey", passkey)

    async def _new_challenge(self, act: PasskeyAct, bound: bytes) -> bytes:
        challenge = secrets.token_bytes(_CHALLENGE_BYTES)
        async with self.lend() as conn:
            await store.put_challenge(
                conn, _bound_hash(act, bound), challenge, lasts=timedelta(seconds=LASTS_SECONDS)
            )
        return challenge

    async def _taken(self, act: PasskeyAct, bound: bytes) -> bytes:
        async with self.lend() as conn:
            challenge = await store.take_challenge(conn, _bound_hash(act, bound))
        if challenge is None:
            raise Unauthorized(TOO_LATE)
        return challenge

    async def _found(
        self, answer: str, client: LoginSource
    ) -> tuple[Assertion, StoredPasskey | None]:
        try:
            assertion = ceremony.read_assertion(answer)
        except NotValid:
            assertion = Assertion(b"", None)
        async with self.lend() as conn:
            found = await store.find_passkey(
                conn, assertion.credential_id, browser_hash=hash_of(client.browser)
            )
        return assertion, found

    @asynccontextmanager
    async def _used(
        self,
        passkey: StoredPasskey,
        challenge: bytes,
        answer: str,
        client: LoginSource,
        act: PasskeyAct,
    ) -> AsyncIterator[Conn]:
        """Record a use, and yield its transaction for the act: a reset is before or after both.

        Raises:
            Unauthorized: the answer is none to the challenge, or the use is refused, and recorded.
        """
        try:
            count = ceremony.verified_count(self.party, challenge, answer, passkey)
        except NotValid:
            raise Unauthorized(NOT_KNOWN) from None
        async with self.lend() as conn, conn.transaction():
            is_used = await store.use_passkey(
                conn, passkey.id, sign_count=count, address=client.address, act=act
            )
            if is_used:
                yield conn
        if not is_used:
            raise Unauthorized(NOT_KNOWN if is_used is None else COPIED)


def check_password_user(session: Session) -> None:
    """Refuse users of an issuer, who have no password here.

    Raises:
        Conflict: the user logs in at an issuer.
    """
    if session.issuer is not None:
        raise Conflict("you log in at an issuer, and have no passkeys here")


def make_passkeys(lend: Lend, attempts: Attempts, url: str | None) -> Passkeys | None:
    """Return the passkeys of a console at a URL; None where browsers make none."""
    party = ceremony.relying_party_of(url)
    return None if party is None else Passkeys(lend, attempts, party)


def new_browser() -> Secret:
    """Return a token by which the challenge of a login is bound to the browser that asked."""
    return Secret(secrets.token_urlsafe(32))


def _bound_hash(act: PasskeyAct, bound: bytes) -> bytes:
    return hashlib.sha256(f"{act} ".encode() + bound).digest()
