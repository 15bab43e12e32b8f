"""Reads what a picture is from its bytes. Pure.

A picture is taken only if its parts are whole and nothing stands behind its end: a file that is cut
off, or that is something else, too, is refused. Only sizes of parts are read, and no pixel.
"""

import re
import zlib

from mailqueue.core.errors import InvalidField
from mailqueue.templates.pictures.model import MAX_BYTES, MAX_SIDE, PictureKind

_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG_SIZES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of JPEG whose segment has the size: SOF, without DHT, JPG and DAC."""
_JPEG_SCAN_END = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")
"""A marker that ends the data of a scan: no stuffed byte, restart or fill byte."""
_CUT = "it is cut off, or damaged"


def kind_of(octets: bytes) -> PictureKind:
    """Return what a picture is.

    Raises:
        InvalidField: it is empty, too large, no PNG, JPEG, GIF or WebP, not whole, or has bytes
            behind its end.
    """
    if not octets:
        raise InvalidField("file", "it is empty")
    if len(octets) > MAX_BYTES:
        raise InvalidField("file", "a picture has at most 1 MiB")
    read = next((read for begin, read in _READERS if begin.match(octets)), None)
    if read is None:
        raise InvalidField("file", "its bytes are no PNG, JPEG, GIF or WebP picture")
    try:
        kind, end = read(octets)
    except (IndexError, ValueError):
        raise InvalidField("file", _CUT) from None
    if end > len(octets):
        raise InvalidField("file", _CUT)
    if end < len(octets):
        raise InvalidField("file", "there are other bytes behind the picture: export it again")
    if not (0 < kind.width <= MAX_SIDE and 0 < kind.height <= MAX_SIDE):
        why = f"a picture has at most {MAX_SIDE:,} pixels a side, got {kind.width}x{kind.height}"
        raise InvalidField("file", why)
    return kind


def _png(octets: bytes) -> tuple[PictureKind, int]:
    """Return the kind of a PNG and where it ends (W3C PNG, 5.3 and 11.2)."""
    at, kind, has_data = len(_PNG), None, False
    while True:
        length = _number(octets, at, 4)
        name, end = octets[at + 4 : at + 8], at + 12 + length
        if _number(octets, end - 4, 4) != zlib.crc32(octets[at + 4 : end - 4]):
            raise ValueError
        if kind is None:
            if (name, length) != (b"IHDR", 13):
                raise ValueError
            kind = PictureKind("image/png", _number(octets, at + 8, 4), _number(octets, at + 12, 4))
        has_data |= name == b"IDAT"
        at = end
        if name == b"IEND":
            if not has_data:
                raise ValueError
            return kind, at


def _jpeg(octets: bytes) -> tuple[PictureKind, int]:
    """Return the kind of a JPEG and where it ends (ITU-T T.81, annex B)."""
    at, kind, has_data = 2, None, False
    while True:
        if octets[at] != 0xFF:
            raise ValueError
        while octets[at + 1] == 0xFF:  # fill bytes
            at += 1
        marker, at = octets[at + 1], at + 2
        if marker == 0xD9:
            if kind is None or not has_data:
                raise ValueError
            return kind, at
        length = _number(octets, at, 2)
        if length < 2 or marker in (0x00, 0xD8):
            raise ValueError
        if marker in _JPEG_SIZES:
            height, width = _number(octets, at + 3, 2), _number(octets, at + 5, 2)
            kind = PictureKind("image/jpeg", width, height)
        at += length
        if marker == 0xDA:
            has_data = True
            found = _JPEG_SCAN_END.search(octets, at)
            if found is None:
                raise ValueError
            at = found.start()


def _gif(octets: bytes) -> tuple[PictureKind, int]:
    """Return the kind of a GIF and where it ends (GIF89a, 17 to 27)."""
    kind = PictureKind("image/gif", _little(octets, 6, 2), _little(octets, 8, 2))
    at, has_data = 13 + _color_table(octets[10]), False
    while True:
        block = octets[at]
        if block == 0x3B:
            if not has_data:
                raise ValueError
            return kind, at + 1
        if block == 0x21:
            at += 2
        elif block == 0x2C:
            at, has_data = at + 11 + _color_table(octets[at + 9]), True
        else:
            raise ValueError
        while octets[at]:
            at += 1 + octets[at]
        at += 1


def _webp(octets: bytes) -> tuple[PictureKind, int]:
    """Return the kind of a WebP and where it ends (RFC 9649, 2)."""
    end = 8 + _little(octets, 4, 4)
    end += end % 2
    at, kind, has_data = 12, None, False
    while at < end:
        name, length, data = octets[at : at + 4], _little(octets, at + 4, 4), at + 8
        kind = kind or _webp_kind(octets, name, data)
        has_data |= name in (b"VP8 ", b"VP8L", b"ANMF")
        at = data + length + length % 2
    if at != end or kind is None or not has_data:
        raise ValueError
    return kind, end


def _webp_kind(octets: bytes, name: bytes, at: int) -> PictureKind:
    """Return the kind that the first chunk of a WebP says."""
    if name == b"VP8X":
        sides = _little(octets, at + 4, 3) + 1, _little(octets, at + 7, 3) + 1
    elif name == b"VP8L" and octets[at] == 0x2F:
        packed = _little(octets, at + 1, 4)
        sides = (packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1
    elif name == b"VP8 " and octets[at + 3 : at + 6] == b"\x9d\x01\x2a":
        sides = _little(octets, at + 6, 2) & 0x3FFF, _little(octets, at + 8, 2) & 0x3FFF
    else:
        raise ValueError
    return PictureKind("image/webp", *sides)


def _color_table(packed: int) -> int:
    return 3 << (packed & 7) + 1 if packed & 0x80 else 0


def _number(octets: bytes, at: int, length: int) -> int:
    return int.from_bytes(_part(octets, at, length))


def _little(octets: bytes, at: int, length: int) -> int:
    return int.from_bytes(_part(octets, at, length), "little")


def _part(octets: bytes, at: int, length: int) -> bytes:
    """Return bytes of a picture; IndexError if they are not there."""
    if at + length > len(octets):
        raise IndexError
    return octets[at : at + length]


_READERS = (
    (re.compile(re.escape(_PNG)), _png),
    (re.compile(rb"\xff\xd8\xff"), _jpeg),
    (re.compile(rb"GIF8[79]a"), _gif),
    (re.compile(rb"RIFF.{4}WEBP", re.DOTALL), _webp),
)
