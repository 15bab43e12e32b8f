"""SQL of passkeys."""

from datetime import timedelta
from uuid import UUID

from mailqueue.admin.users.model import Session
from mailqueue.admin.users.passkeys.model import (
    ListedPasskey,
    NewPasskey,
    StoredPasskey,
)
from mailqueue.db.fetch import Conn, many, maybe, run, value
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.users import passkeys as sql


async def put_challenge(conn: Conn, bound: bytes, challenge: bytes, *, lasts: timedelta) -> None:
    """Store the challenge of a session or browser, in place of the one before."""
    params = {"bound": bound, "challenge": challenge, "lasts": lasts}
    await run(conn, sql.PUT_CONSOLE_CHALLENGE, params)


async def take_challenge(conn: Conn, bound: bytes) -> bytes | None:
    """Use up the challenge of a session or browser; None if there is none, or it has ended."""
    return await maybe(conn, sql.TAKE_CONSOLE_CHALLENGE, {"bound": bound}, bytes)


async def add_passkey(
    conn: Conn, session: Session, made: NewPasskey, *, name: str, limit: int
) -> None:
    """Insert a passkey of the user of a session.

    Raises:
        InvalidField: the name does not fit, the passkey was added before, there are too many, or
            the session has ended.
    """
    params = {"user": session.user_id, "session": session.session_id}
    key = {"credential": made.credential_id, "public_key": made.public_key}
    counted = {"sign_count": made.sign_count, "transports": list(made.transports)}
    with refusals(otherwise=""):
        await run(
            conn, sql.ADD_CONSOLE_PASSKEY, params | key | counted | {"name": name, "max": limit}
        )


async def find_passkey(
    conn: Conn, credential: bytes, *, browser_hash: bytes
) -> StoredPasskey | None:
    """Return the passkey with a credential id, if its user may still log in."""
    params = {"credential": credential, "browser": browser_hash}
    return await maybe(conn, sql.FIND_CONSOLE_PASSKEY, params, StoredPasskey)


async def use_passkey(
    conn: Conn, passkey: UUID, *, sign_count: int, address: str | None, act: str
) -> bool | None:
    """Record a use; return False if the count went back, None if the passkey was removed."""
    params = {"id": passkey, "sign_count": sign_count, "address": address, "act": act}
    return await maybe(conn, sql.USE_CONSOLE_PASSKEY, params, bool)


async def list_passkeys(conn: Conn, user: UUID) -> list[ListedPasskey]:
    """Return the passkeys of a user, the first one first."""
    return await many(conn, sql.LIST_CONSOLE_PASSKEYS, {"user": user}, ListedPasskey)


async def remove_passkey(conn: Conn, user: UUID, passkey: UUID) -> bool:
    """Delete a passkey of a user; return False if the user has no such one."""
    return await value(conn, sql.REMOVE_CONSOLE_PASSKEY, {"user": user, "id": passkey}, bool)
