"""What proves that a person is a user: the password, and the code of a second factor."""

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass

from mailqueue.admin.users import store
from mailqueue.admin.users.attempts import CODES, PASSWORDS, Attempts
from mailqueue.admin.users.model import SecondFactor, Session
from mailqueue.admin.users.passwords import Passwords
from mailqueue.admin.users.second_factor.codes import matching_step, recovery_hash
from mailqueue.admin.users.second_factor.store import find_second_factor, use_up
from mailqueue.core.errors import InvalidField, Unauthorized, Unavailable
from mailqueue.db.fetch import Conn, Lend
from mailqueue.telemetry.log import get_logger
from mailqueue.vault.masterkey import MasterKey
from mailqueue.vault.users import Purpose, UserValue, open_for_user

WRONG_CODE = "the code is wrong, was used before, or is too old"
NOT_YOURS = "is not your password"
NOT_BOTH = "is not your password, or the code is wrong or was used before"
log = get_logger(__name__)


class WrongCode(Unauthorized):
    """The password was right, and the code was not."""


@dataclass(frozen=True, slots=True)
class VerifiedCode:
    """A right code that is not used up yet: the time step of a one-time code, or the hash of a
    recovery code.
    """

    step: int | None = None
    recovery: bytes | None = None


@dataclass(frozen=True, slots=True)
class UserProof:
    """A right password, by its stored hash, and a right code of users who have a second factor."""

    password_hash: str | None
    code: VerifiedCode | None = None


@dataclass(slots=True)
class Proofs:
    """Verifies passwords and codes. Attempts are slowed, for passwords and codes apart."""

    lend: Lend
    passwords: Passwords
    attempts: Attempts
    read_master: Callable[[], MasterKey | None]
    now: Callable[[], float] = time.time  # seconds since 1970

    def master(self) -> MasterKey:
        """Return the master key, by which second factors are sealed.

        Raises:
            Unavailable: there is none.
        """
        found = self.read_master()
        if found is None:
            raise Unavailable("second factors need the master key, which is not set here")
        return found

    def secret_of(self, factor: SecondFactor) -> bytes:
        """Return the secret of a second factor.

        Raises:
            Unavailable: no loaded master key opens it.
        """
        value = UserValue(factor.master_key_id, factor.sealed)
        found = open_for_user(self.master(), factor.user_id, Purpose.SECOND_FACTOR, value)
        if found is None:
            log.error("console.second_factor_sealed", user=factor.name, key=factor.master_key_id)
            raise Unavailable("your second factor cannot be opened: tell an administrator")
        return found

    async def factor_of(self, session: Session) -> SecondFactor | None:
        """Return the second factor of a user, if it is on."""
        if session.issuer is not None:
            return None
        async with self.lend() as conn:
            found = await find_second_factor(conn, session.user_id)
        return None if found is None or found.turned_on_at is None else found

    async def password(self, session: Session, password: str, *, field: str) -> str | None:
        """Return the stored hash of the user's password after verifying it.

        Raises:
            InvalidField: it is wrong.
            TooManyRequests: too many wrong passwords were given.
        """
        known = await self._verified(session, password)
        if known is None:
            raise InvalidField(field, NOT_YOURS)
        return known

    async def whole(self, session: Session, password: str, code: str) -> UserProof:
        """Return a proof by the password, and by a code where the user has a second factor.

        The code is not used up. An error does not say which of the two is wrong.

        Raises:
            InvalidField: one of them is wrong.
            TooManyRequests: too many wrong ones were given.
            Unavailable: the second factor cannot be opened.
        """
        factor = await self.factor_of(session)
        if factor is None:
            return UserProof(await self.password(session, password, field="password"))
        await self.wait_for_code(factor, code, within=session.session_id.bytes)
        known = await self._verified(session, password)
        verified = self.code(factor, code)
        if known is None or verified is None:
            raise InvalidField("password", NOT_BOTH)
        return UserProof(known, verified)

    async def wait_for_code(
        self, factor: SecondFactor, code: str, *, within: bytes | None = None
    ) -> None:
        """Wait until a code may be judged: attempts are counted for the user.

        `within` is the session, or the hash of a browser in which the user has logged in before:
        such attempts are counted for it. Recovery codes are counted apart, and like passwords: they
        cannot be guessed.

        Raises:
            TooManyRequests: too many wrong ones were given.
        """
        is_recovery = recovery_hash(factor.user_id, code) is not None
        kind = b"recovery code" if is_recovery else b"code"
        whose = factor.user_id.bytes + (within or b"")
        client = hashlib.sha256(kind + whose).digest()
        await self.attempts.wait_for_turn(client, PASSWORDS if is_recovery else CODES)

    def code(self, factor: SecondFactor, code: str) -> VerifiedCode | None:
        """Return a right code; None for a wrong one, or one that is known to be used up.

        Raises:
            Unavailable: the second factor cannot be opened.
        """
        recovery = recovery_hash(factor.user_id, code)
        if recovery is not None:
            return VerifiedCode(recovery=recovery)  # `use` finds out
        step = matching_step(self.secret_of(factor), code, now=self.now())
        return None if step is None or step <= factor.last_step else VerifiedCode(step)

    async def _verified(self, session: Session, password: str) -> str | None:
        await self.attempts.wait_for_turn(hashlib.sha256(session.user_id.bytes).digest())
        async with self.lend() as conn:
            found = await store.find_login(conn, session.name, browser_hash=b"")
        known = None if found is None else found.password_hash
        is_right = await self.passwords.verify(known, password, is_known_browser=True)
        return known if is_right else None


async def use(conn: Conn, session: Session, proof: UserProof) -> None:
    """Use up the code of a proof, in the caller's transaction.

    Raises:
        InvalidField: it was used before.
    """
    if proof.code is not None and not await use_code(conn, session, proof.code):
        raise InvalidField("password", NOT_BOTH)


async def use_code(conn: Conn, of: Session | SecondFactor, code: VerifiedCode) -> bool:
    """Use up a code in the caller's transaction; return False if it was used before."""
    return await use_up(conn, of.user_id, step=code.step, recovery=code.recovery)
