"""Signed return paths: the address to which the bounces of one mail are sent. Pure.

The local part is `bounces+` and 55 lower-case letters and digits (some servers change the case). In
base32 it holds the key id, the mail, the recipient's number, the day, and 80 bits of HMAC-SHA256 of
all these. It reveals no recipient, and cannot be forged.
"""

import base64
import binascii
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from mailqueue.tracking.tokens import KEY_ID_BYTES, Seals

PREFIX = "bounces+"
GOOD_FOR = timedelta(days=60)
"""How long after sending a return path is valid; servers give up within days."""
MAX_RECIPIENT = 255
MAC_BYTES = 10
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PLAIN_BYTES = 16 + 1 + 2
_LETTERS = 55
_LOCAL = re.compile(rf"bounces[+=-]([a-z2-7]{{{_LETTERS}}})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ReturnPath:
    """The claims of an address; none is verified before `is_proved`.

    `recipient` is the place in the mail's recipients, from 1; 0 is all of them, or the only one.
    """

    key_id: int
    email_id: UUID
    recipient: int
    day: int
    mac: bytes

    @property
    def plain(self) -> bytes:
        """Return the bytes that are signed."""
        return b"%b%c%b" % (self.email_id.bytes, self.recipient, self.day.to_bytes(2))


def return_path(seals: Seals, *, email_id: UUID, recipient: int, now: datetime) -> str:
    """Return the local part of the address to which the bounces of a mail are sent."""
    place = recipient if 0 <= recipient <= MAX_RECIPIENT else 0
    plain = b"%b%c%b" % (email_id.bytes, place, _day(now).to_bytes(2))
    head, mac = seals.sign(plain)
    octets = head + plain + mac[:MAC_BYTES]
    written = base64.b32encode(octets).decode().rstrip("=").lower()
    return f"{PREFIX}{written}"


def read_return_path(local: str) -> ReturnPath | None:
    """Return the claims of a local part; None when it is not of our form."""
    found = _LOCAL.fullmatch(local)
    if found is None:
        return None
    text = found[1].upper()
    try:
        octets = base64.b32decode(text + "=")
    except (ValueError, binascii.Error):
        return None
    # Only the canonical encoding: the last letter has an unused bit.
    if base64.b32encode(octets).decode().rstrip("=") != text:
        return None
    plain = octets[KEY_ID_BYTES : KEY_ID_BYTES + _PLAIN_BYTES]
    return ReturnPath(
        int.from_bytes(octets[:KEY_ID_BYTES]),
        UUID(bytes=plain[:16]),
        plain[16],
        int.from_bytes(plain[17:19]),
        octets[KEY_ID_BYTES + _PLAIN_BYTES :],
    )


def is_proved(claimed: ReturnPath, seals: Seals) -> bool:
    """Return whether the project of these seals signed the address."""
    return seals.signed(claimed.key_id, claimed.plain, claimed.mac)


def is_in_time(claimed: ReturnPath, now: datetime) -> bool:
    """Return whether the address is still valid: signed within GOOD_FOR, and not in the future."""
    return 0 <= _day(now) + 1 - claimed.day <= GOOD_FOR.days + 1


def _day(now: datetime) -> int:
    return (now - _EPOCH).days & 0xFFFF
