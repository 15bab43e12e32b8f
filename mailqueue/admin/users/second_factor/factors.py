"""The second factor of a user with a password: log in with it, turn it on and off."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from mailqueue.admin.users import proofs
from mailqueue.admin.users.beginning import begin_session, hash_of
from mailqueue.admin.users.model import (
    BegunSession,
    LoginSource,
    SecondFactor,
    Session,
)
from mailqueue.admin.users.proofs import WRONG_CODE, Proofs, WrongCode, use_code
from mailqueue.admin.users.second_factor import store, unfinished
from mailqueue.admin.users.second_factor.codes import (
    matching_step,
    new_recovery_codes,
    new_secret,
    provisioning_uri,
    recovery_hash,
    secret_text,
)
from mailqueue.core.errors import Conflict, InvalidField, Unauthorized, Unavailable
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Lend
from mailqueue.vault.users import Purpose, seal_for_user

BEGUN_LASTS = timedelta(minutes=15)
"""How long a new secret is shown, and can be turned on."""
TOO_LATE = "this login has taken too long; begin again"
_WRONG = "is wrong; codes change every 30 seconds, and the clock of the device has to be right"


@dataclass(frozen=True, slots=True)
class ShownSecret:
    """The secret of a second factor that is not on yet, as an app takes it in."""

    text: Secret
    uri: Secret


@dataclass(slots=True)
class SecondFactors:
    """Second factors of users, sealed under the master key; `issuer` names us in people's apps."""

    lend: Lend
    proofs: Proofs
    issuer: str

    async def log_in(self, kept: Secret | None, code: str, client: LoginSource) -> BegunSession:
        """Begin the session of a login whose password was right, by a code, which is used up.

        Raises:
            WrongCode: the code is wrong or was used; another one may be given.
            Unauthorized: the login has taken too long, or the password was replaced.
            TooManyRequests: too many codes were given.
            Unavailable: the second factor cannot be opened.
        """
        factor = await self._unfinished(kept, client)
        is_known = factor.is_known_browser and client.browser is not None
        known = hash_of(client.browser) if is_known else None
        await self.proofs.wait_for_code(factor, code, within=known)
        verified = self.proofs.code(factor, code)
        async with self.lend() as conn:
            try:
                async with conn.transaction():
                    if verified is None or not await use_code(conn, factor, verified):
                        raise WrongCode(WRONG_CODE)
                    begun = await begin_session(
                        conn,
                        factor.user_id,
                        client,
                        factor.password_hash,
                        is_known=is_known,
                        is_whole=True,
                    )
                    if begun is None:
                        raise Unauthorized(TOO_LATE)
            except WrongCode:
                await store.note_wrong_code(conn, factor.user_id, address=client.address)
                raise
        return begun

    async def awaits_code(self, kept: Secret | None, client: LoginSource) -> bool:
        """Return whether a login whose password was right still waits for its code."""
        try:
            await self._unfinished(kept, client)
        except (Unauthorized, Unavailable):
            return False
        return True

    async def _unfinished(self, kept: Secret | None, client: LoginSource) -> SecondFactor:
        user = None if kept is None else unfinished.user_of(kept)
        if kept is None or user is None:
            raise Unauthorized(TOO_LATE)
        async with self.lend() as conn:
            factor = await store.find_second_factor(
                conn, user, browser_hash=hash_of(client.browser)
            )
        if factor is None or factor.turned_on_at is None:
            raise Unauthorized(TOO_LATE)
        if not unfinished.is_valid(self.proofs.master(), kept, factor, now=self.proofs.now()):
            raise Unauthorized(TOO_LATE)
        return factor

    async def find(self, session: Session) -> SecondFactor | None:
        """Return the second factor of a user; None if none is on."""
        return await self.proofs.factor_of(session)

    async def begin(self, session: Session) -> None:
        """Make a new secret, which this session is shown; logins need no code yet.

        Raises:
            Conflict: a second factor is on, or the user has no password here.
            Unavailable: there is no master key.
        """
        master = self.proofs.master()
        value = seal_for_user(master, session.user_id, Purpose.SECOND_FACTOR, new_secret())
        async with self.lend() as conn:
            is_begun = await store.begin_second_factor(
                conn,
                session.user_id,
                session=session.session_id,
                master_key=value.master_key_id,
                sealed=value.sealed,
            )
        if not is_begun:
            raise Conflict("a second factor is on already, or this user has no password here")

    async def shown(self, session: Session) -> ShownSecret | None:
        """Return the new secret of this session; None if there is none, or it is too old."""
        factor = await self._begun(session)
        if factor is None:
            return None
        secret = self.proofs.secret_of(factor)
        uri = provisioning_uri(secret, name=factor.name, issuer=self.issuer)
        return ShownSecret(secret_text(secret), uri)

    async def turn_on(self, session: Session, code: str) -> Sequence[Secret]:
        """Turn on the second factor by its first code; return recovery codes.

        They are not stored. Other sessions of the user end.

        Raises:
            InvalidField: the code is wrong.
            TooManyRequests: too many wrong codes were given.
            Conflict: there is no new secret of this session, or it is too old.
        """
        factor = await self._begun(session)
        if factor is None:
            raise Conflict("the secret is too old: begin again")
        await self.proofs.wait_for_code(factor, code, within=session.session_id.bytes)
        step = matching_step(self.proofs.secret_of(factor), code, now=self.proofs.now())
        if step is None:
            raise InvalidField("code", _WRONG)
        codes = new_recovery_codes()
        async with self.lend() as conn:
            is_on = await store.turn_on_second_factor(
                conn,
                session.user_id,
                session=session.session_id,
                sealed=factor.sealed,
                step=step,
                codes=_hashes(session, codes),
            )
        if not is_on:
            raise Conflict("the secret was changed meanwhile: begin again")
        return codes

    async def renew_codes(self, session: Session, password: str, code: str) -> Sequence[Secret]:
        """Replace the recovery codes of a user; return the new ones, which are not stored.

        Raises:
            InvalidField: the password or the code is wrong.
            TooManyRequests: too many wrong ones were given.
            Conflict: no second factor is on.
        """
        proof = await self.proofs.whole(session, password, code)
        codes = new_recovery_codes()
        async with self.lend() as conn, conn.transaction():
            await proofs.use(conn, session, proof)
            if not await store.renew_recovery_codes(
                conn, session.user_id, codes=_hashes(session, codes)
            ):
                raise Conflict("no second factor is on")
        return codes

    async def turn_off(self, session: Session, password: str, code: str) -> None:
        """Delete the second factor of a user with its recovery codes.

        Raises:
            InvalidField: the password or the code is wrong.
            TooManyRequests: too many wrong ones were given.
            Conflict: no second factor is on.
        """
        proof = await self.proofs.whole(session, password, code)
        async with self.lend() as conn, conn.transaction():
            await proofs.use(conn, session, proof)
            if not await store.turn_off_second_factor(conn, session.user_id):
                raise Conflict("no second factor is on")

    async def _begun(self, session: Session) -> SecondFactor | None:
        async with self.lend() as conn:
            found = await store.find_second_factor(conn, session.user_id)
        if found is None or found.turned_on_at is not None:
            return None
        is_recent = datetime.now(UTC) - found.begun_at < BEGUN_LASTS
        return found if is_recent and found.session_id == session.session_id else None


def _hashes(session: Session, codes: Sequence[Secret]) -> list[bytes]:
    found = (recovery_hash(session.user_id, code.reveal()) for code in codes)
    return [each for each in found if each is not None]
