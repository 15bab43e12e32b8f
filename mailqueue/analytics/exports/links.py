"""Signed links to files of exports, which end after an hour. Pure.

A token is, in URL-safe base64: the id of a key (5 bytes), the export (16), the second at which it
ends (8), and HMAC-SHA256 of these by a key of the project (32). It cannot be made or changed
without the key, and revoking the key ends it.
"""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from mailqueue.tracking.tokens import KEY_ID_BYTES, InvalidToken, Seals

PATH = "/exports/"
"""Path of the links, before the token."""
LIFETIME = timedelta(hours=1)
"""Lifetime of a link."""
_PURPOSE = b"export link 1 "
_PLAIN_BYTES = 16 + 8
_TOKEN_BYTES = KEY_ID_BYTES + _PLAIN_BYTES + 32


@dataclass(frozen=True, slots=True)
class ExportToken:
    """The claims of a token; none is verified before `is_proved`."""

    key_id: int
    export_id: UUID
    until: datetime
    mac: bytes

    @property
    def plain(self) -> bytes:
        """Return the bytes that are signed."""
        return self.export_id.bytes + int(self.until.timestamp()).to_bytes(8)

    def is_proved(self, seals: Seals, *, now: datetime) -> bool:
        """Return whether a key of a project signed it, and it has not ended."""
        return now < self.until and seals.signed(self.key_id, _PURPOSE + self.plain, self.mac)


def token_of(seals: Seals, export_id: UUID, *, until: datetime) -> str:
    """Return the token of a link to the file of an export that ends at a time."""
    plain = export_id.bytes + int(until.timestamp()).to_bytes(8)
    head, mac = seals.sign(_PURPOSE + plain)
    return urlsafe_b64encode(head + plain + mac).decode().rstrip("=")


def read_token(text: str) -> ExportToken:
    """Return the claims of a token.

    Raises:
        InvalidToken: the text has not the form of a token.
    """
    try:
        octets = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        until = datetime.fromtimestamp(int.from_bytes(octets[KEY_ID_BYTES + 16 :][:8]), UTC)
    except (ValueError, OverflowError, OSError, binascii.Error):
        raise InvalidToken from None
    # One spelling each: the decoder ignores characters outside its alphabet, and spare bits.
    if len(octets) != _TOKEN_BYTES or urlsafe_b64encode(octets).decode().rstrip("=") != text:
        raise InvalidToken
    return ExportToken(
        key_id=int.from_bytes(octets[:KEY_ID_BYTES]),
        export_id=UUID(bytes=octets[KEY_ID_BYTES:][:16]),
        until=until,
        mac=octets[KEY_ID_BYTES + _PLAIN_BYTES :],
    )


def end_of(now: datetime, expires_at: datetime) -> datetime:
    """Return the end of a link that is made now, in whole seconds, not after its file's."""
    return min(now + LIFETIME, expires_at).replace(microsecond=0)
