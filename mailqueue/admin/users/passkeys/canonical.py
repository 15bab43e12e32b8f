"""CBOR of authenticators, checked before a decoder reads it: it has no tags, and one form. Pure.

A decoder makes regular expressions of some tags, and those of one answer would hold the event loop
for more than ten seconds.
"""

_BYTES, _TEXT, _ARRAY, _MAP, _TAG, _SIMPLE = range(2, 8)
_WITH_KEY, _WITH_EXTENSIONS = 0x40, 0x80


class NotCanonical(ValueError):
    """CBOR has a tag, a fraction, an open end or more than one value."""


def check_value(data: bytes) -> None:
    """Check that bytes are one value; lengths need not be the shortest.

    Raises:
        NotCanonical: it has another form.
        IndexError: it ends too early.
    """
    if _end_of(data, 0, shortest=False) != len(data):
        raise NotCanonical


def check_authenticator_data(data: bytes) -> None:
    """Check all CBOR of what a device says: its key, and extensions.

    Lengths have to be the shortest, because the library encodes both again to find their ends.

    Raises:
        NotCanonical: it has another form.
        IndexError: it ends too early.
    """
    flags, at = data[32], 37
    if flags & _WITH_KEY:
        at = _end_of(data, 55 + int.from_bytes(data[53:55], "big"), shortest=True)
    if flags & _WITH_EXTENSIONS:
        at = _end_of(data, at, shortest=True)
    if at != len(data):
        raise NotCanonical


def _end_of(data: bytes, at: int, *, shortest: bool) -> int:
    """Return where the value at a place ends."""
    awaited = 1
    while awaited:
        awaited -= 1
        kind, number = data[at] >> 5, data[at] & 31
        at += 1
        if kind == _TAG or number > 27 or (kind == _SIMPLE and number > 23):
            raise NotCanonical
        if number > 23:
            length = 1 << (number - 24)
            number = int.from_bytes(data[at : at + length], "big")
            at += length
            if shortest and number < (24 if length == 1 else 1 << (4 * length)):
                raise NotCanonical
        if kind in (_BYTES, _TEXT):
            at += number
        elif kind in (_ARRAY, _MAP):
            awaited += number if kind == _ARRAY else 2 * number
    return at
