"""Chooses and applies the transfer encoding of a text body. Pure."""

from binascii import b2a_base64, b2a_qp
from typing import NamedTuple

MAX_LINE_BYTES = 998  # RFC 5322 2.1.1
_BASE64_INPUT = 57  # bytes that make a line of 76 characters

_QP_LINE = 76
PIECE_BYTES = 256 * 1024
"""Bytes that are encoded at once: no other thread runs during one call."""

_CONTROLS = bytes(octet for octet in range(32) if octet not in b"\t\r\n") + b"\x7f"
_ALL_BUT_CONTROLS = bytes(octet for octet in range(256) if octet not in _CONTROLS)
# Bytes that quoted-printable leaves unchanged at any place in a line.
_QP_ITSELF = b"\n" + bytes(octet for octet in range(33, 127) if octet != ord("="))


class EncodedBody(NamedTuple):
    """An encoded body with CRLF line ends, and the name of its encoding."""

    encoding: str
    octets: bytes


def check_body(name: str, text: str) -> None:
    """Refuse a text that no message can contain.

    Raises:
        ValueError: it has a NUL or a lone surrogate; the message names body and position.
    """
    if "\0" in text:
        raise ValueError(f"{name} contains the character NUL at position {text.index(chr(0))}")
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError as exc:
        raise ValueError(f"{name} contains a lone surrogate at position {exc.start}") from exc


def encode_body(text: str) -> EncodedBody:
    """Encode a text; decoding returns the same text with every line end as CRLF.

    ASCII with lines of at most 998 bytes is not encoded; other text is encoded as quoted-printable
    or base64, whichever is shorter.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    octets = text.encode()
    if text.isascii() and not _has_controls(octets) and not _has_long_lines(octets):
        return EncodedBody("7bit", octets.replace(b"\n", b"\r\n"))
    base64_octets = _base64_octets(len(octets) + octets.count(b"\n"))
    # Each byte that needs escaping adds two; most bodies in non-Latin scripts end here.
    if len(octets) + 2 * len(octets.translate(None, _QP_ITSELF + b" \t")) < base64_octets:
        quoted = _quoted_printable(octets)
        if len(quoted) <= base64_octets:
            return EncodedBody("quoted-printable", quoted)
    return EncodedBody("base64", base64_lines(octets.replace(b"\n", b"\r\n")))


def _has_controls(octets: bytes) -> bool:
    return bool(octets.translate(None, _ALL_BUT_CONTROLS))


def _has_long_lines(octets: bytes) -> bool:
    # Jumps from line end to line end, at most one line length at a time.
    start = 0
    while len(octets) - start > MAX_LINE_BYTES:
        end = octets.rfind(b"\n", start, start + MAX_LINE_BYTES + 1)
        if end < 0:
            return True
        start = end + 1
    return False


def _quoted_printable(octets: bytes) -> bytes:
    # The encoder copies the first line end it finds for its soft line breaks, and defaults to LF.
    # So it is given bare LF, and every line end becomes CRLF afterwards.
    if len(octets) <= PIECE_BYTES:
        return b2a_qp(octets, istext=True).replace(b"\n", b"\r\n")
    pieces: list[bytes] = []
    start = 0
    while start < len(octets):  # one call would keep all other threads from running
        end = octets.rfind(b"\n", start, start + PIECE_BYTES) + 1 or start + PIECE_BYTES
        piece = b2a_qp(octets[start:end], istext=True).replace(b"\n", b"\r\n")
        is_within_line = end < len(octets) and not piece.endswith(b"\n")
        pieces.append(_with_soft_break(piece) if is_within_line else piece)
        start = end
    return b"".join(pieces)


def _with_soft_break(quoted: bytes) -> bytes:
    """Return lines of at most 76 characters, the last of which goes on after a soft line break."""
    if len(quoted) - quoted.rfind(b"\n") <= _QP_LINE:
        return quoted + b"=\r\n"
    last = 3 if quoted[-3:-2] == b"=" else 1  # an escape is not divided
    return quoted[:-last] + b"=\r\n" + quoted[-last:] + b"=\r\n"


def base64_lines(octets: bytes) -> bytes:
    """Return bytes in base64, in lines of at most 76 characters with CRLF between them."""
    view = memoryview(octets)
    piece_bytes = max(1, PIECE_BYTES // _BASE64_INPUT) * _BASE64_INPUT
    return b"\r\n".join(
        [  # one call for all lines would keep all other threads from running
            b"\r\n".join(
                [
                    b2a_base64(view[at : at + _BASE64_INPUT], newline=False)
                    for at in range(start, min(start + piece_bytes, len(octets)), _BASE64_INPUT)
                ]
            )
            for start in range(0, len(octets), piece_bytes)
        ]
    )


def _base64_octets(octets: int) -> int:
    """Return the length of `octets` bytes in base64, including line ends."""
    lines = -(-octets // _BASE64_INPUT)
    return -(-octets // 3) * 4 + max(0, lines - 1) * 2
