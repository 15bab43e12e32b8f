"""Check again, for many open pages at once, that their users may still see them."""

import hashlib
from collections.abc import Sequence

from mailqueue.admin.users import store
from mailqueue.admin.users.model import SessionAccess
from mailqueue.admin.users.sessions import IDLE
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn


def hash_of(token: Secret) -> bytes:
    """Return the hash by which a session is found."""
    return hashlib.sha256(token.reveal().encode()).digest()


async def recheck(
    conn: Conn, asked: Sequence[tuple[bytes, str | None]]
) -> list[SessionAccess | None]:
    """Return what the users of sessions see now, each by the hash of its token and the name of a
    project; None for a session that has ended.
    """
    found = await store.recheck_sessions(
        conn, [token for token, _ in asked], [project for _, project in asked], idle=IDLE
    )
    by_place = {each.place: each for each in found}
    return [by_place.get(place) for place in range(1, len(asked) + 1)]
