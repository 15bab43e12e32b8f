"""SQL of second factors."""

from collections.abc import Sequence
from uuid import UUID

from mailqueue.admin.users.model import SecondFactor
from mailqueue.db.fetch import Conn, maybe, run, value
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.users import second_factors as sql


async def begin_second_factor(
    conn: Conn, user: UUID, *, session: UUID, master_key: str, sealed: bytes
) -> bool:
    """Store a sealed secret that is not on yet; return False if one is on."""
    params = {"user": user, "session": session, "master_key": master_key, "sealed": sealed}
    return await value(conn, sql.BEGIN_CONSOLE_SECOND_FACTOR, params, bool)


async def find_second_factor(
    conn: Conn, user: UUID, *, browser_hash: bytes = b""
) -> SecondFactor | None:
    """Return the second factor of a user, on or not yet."""
    params = {"user": user, "browser": browser_hash}
    return await maybe(conn, sql.FIND_CONSOLE_SECOND_FACTOR, params, SecondFactor)


async def turn_on_second_factor(
    conn: Conn, user: UUID, *, session: UUID, sealed: bytes, step: int, codes: Sequence[bytes]
) -> bool:
    """Turn on a second factor, and end the other sessions; return False if it was changed."""
    params = {"user": user, "session": session, "sealed": sealed, "step": step}
    return await value(
        conn, sql.TURN_ON_CONSOLE_SECOND_FACTOR, params | {"codes": list(codes)}, bool
    )


async def use_up(
    conn: Conn, user: UUID, *, step: int | None = None, recovery: bytes | None = None
) -> bool:
    """Use up a code or a recovery code; return False if it was used before."""
    params = {"user": user, "step": step, "recovery": recovery}
    return await value(conn, sql.USE_CONSOLE_CODE, params, bool)


async def note_wrong_code(conn: Conn, user: UUID, *, address: str | None) -> None:
    """Record a login with the right password and a wrong code."""
    await run(conn, sql.NOTE_WRONG_CONSOLE_CODE, {"user": user, "address": address})


async def renew_recovery_codes(conn: Conn, user: UUID, *, codes: Sequence[bytes]) -> bool:
    """Replace the recovery codes of a user; return False if no second factor is on."""
    params = {"user": user, "codes": list(codes)}
    return await value(conn, sql.RENEW_CONSOLE_RECOVERY_CODES, params, bool)


async def turn_off_second_factor(conn: Conn, user: UUID) -> bool:
    """Delete a second factor; return False if none is on."""
    return await value(conn, sql.TURN_OFF_CONSOLE_SECOND_FACTOR, {"user": user}, bool)


async def reset_second_factor(conn: Conn, name: str, *, by: str) -> bool:
    """Delete the second factor of a user, whose sessions end; return False if there is no user.

    Raises:
        InvalidField: the user logs in at an issuer.
    """
    with refusals(otherwise=""):
        return await value(conn, sql.RESET_CONSOLE_SECOND_FACTOR, {"name": name, "by": by}, bool)
