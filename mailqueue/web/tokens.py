"""Tokens of forms: each belongs to a session and a path, ends by itself, and acts once. Pure.

A token proves that a form was made for this session, against forgery by other sites, and its hash
is stored when it is used, so that a second click, the back button and a reload do nothing.
"""

import base64
import binascii
import hashlib
import hmac
import os
import struct

from mailqueue.core.secret import Secret

MAX_AGE_SECONDS = 12 * 3600
_HEAD = struct.Struct(">Q16s")
_MAC_BYTES = 32


def new_token(session: Secret, path: str, *, now: float) -> str:
    """Return a token for a form that is sent to a path; `now` in seconds since 1970."""
    head = _HEAD.pack(int(now), os.urandom(16))
    return base64.urlsafe_b64encode(head + _mac(session, path, head)).decode()


def is_valid(token: str, session: Secret, path: str, *, now: float) -> bool:
    """Return whether a token was made for this session and path, and not too long ago."""
    try:
        octets = base64.b64decode(token.encode("ascii"), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        return False
    if len(octets) != _HEAD.size + _MAC_BYTES:
        return False
    head, mac = octets[: _HEAD.size], octets[_HEAD.size :]
    made_at, _ = _HEAD.unpack(head)
    is_ours = hmac.compare_digest(mac, _mac(session, path, head))
    return is_ours and 0 <= now - made_at + 60 <= MAX_AGE_SECONDS


def hash_of(token: str) -> bytes:
    """Return the hash of a token, which is stored when it is used."""
    return hashlib.sha256(token.encode()).digest()


def _mac(session: Secret, path: str, head: bytes) -> bytes:
    key = hashlib.sha256(b"form " + session.reveal().encode()).digest()
    return hmac.digest(key, head + path.encode(), "sha256")
