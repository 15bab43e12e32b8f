"""Begin sessions: their tokens, and the hashes by which tokens and clients are known."""

import hashlib
import ipaddress
import secrets
from datetime import timedelta
from uuid import UUID

from mailqueue.admin.users import store
from mailqueue.admin.users.model import BegunSession, LoginSource
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn

LASTS = timedelta(hours=12)
"""How long a session is valid at most."""


async def begin_session(
    conn: Conn,
    user: UUID,
    client: LoginSource,
    password_hash: str | None,
    *,
    is_known: bool,
    is_whole: bool = False,
) -> BegunSession | None:
    """Begin a session in the caller's transaction, with new tokens.

    `password_hash` is that of the password verified, None after a login at an issuer. Return None
    if the password was replaced or the user removed meanwhile, or a code is missing (`is_whole`).
    """
    # A new token for each login, so that a session fixed in advance is never used.
    begun = BegunSession(
        _new_token(), client.browser if is_known and client.browser else _new_token()
    )
    session = await store.begin_session(
        conn,
        user,
        password_hash=password_hash,
        token_hash=hash_of(begun.token),
        browser_hash=hash_of(begun.browser),
        address=client.address,
        user_agent=client.user_agent,
        lasts=LASTS,
        is_whole=is_whole,
    )
    return None if session is None else begun


def _new_token() -> Secret:
    return Secret(secrets.token_urlsafe(32))


def hash_of(token: Secret | None) -> bytes:
    """Return the hash by which a token is stored."""
    return hashlib.sha256(b"" if token is None else token.reveal().encode()).digest()


def network_hash(address: str | None) -> bytes:
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
