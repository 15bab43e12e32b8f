"""Checks the line ends and the lengths of lines of a message. Pure.

Messages may have 50 MB: what is done at a stretch is bounded, so that other threads go on.
"""

from enum import StrEnum

_PIECE_BYTES = 1024 * 1024
_END = b"\r\n"


class LineFault(StrEnum):
    """What is wrong with the bytes between the lines of a message."""

    NUL = "nul"
    BARE_END = "bare_end"  # a CR or LF that is not part of CR LF


def bad_end(raw: bytes) -> LineFault | None:
    """Return the fault of a message with a NUL, or with a CR or LF that is not part of CR LF."""
    if b"\0" in raw:
        return LineFault.NUL
    for begin in range(0, len(raw), _PIECE_BYTES):
        end = begin + _PIECE_BYTES
        pairs = raw.count(_END, begin, end + 1)  # those that begin in this piece
        if raw.count(b"\r", begin, end) != pairs:
            return LineFault.BARE_END
        if raw.count(b"\n", begin + 1, end + 1) != pairs:
            return LineFault.BARE_END
    return LineFault.BARE_END if raw.startswith(b"\n") else None


def has_longer_line(raw: bytes, most: int) -> bool:
    """Return whether a line of a message whose lines end in CR LF has more bytes than `most`."""
    begin, reach = 0, most + len(_END)
    while len(raw) - begin > most:
        end = raw.rfind(_END, begin, begin + reach)  # of as many lines as fit
        if end < 0:
            return True
        begin = end + len(_END)
    return False
