"""Canonicalization for DKIM: relaxed headers and relaxed body (RFC 6376 3.4). Pure.

Lines end in CRLF, as in every composed message; a bare CR or LF is an ordinary character.
"""

import hashlib
from collections.abc import Iterator

PIECE_BYTES = 256 * 1024
"""Bytes of a body that are reduced at once."""
_CRLF = b"\r\n"


def relaxed_body(body: bytes) -> bytes:
    """Return the canonical body: spaces and tabs reduced, none at ends of lines or of the body."""
    body = _reduced(body) if len(body) <= PIECE_BYTES else b"".join(map(_reduced, _pieces(body)))
    end = len(body)
    if body.endswith(b" "):  # the last line has no line end
        end -= 1
    if body.endswith(_CRLF, 0, end):
        end -= _crlfs_before(body, end)
    return body[:end] + _CRLF if end else b""


def _reduced(lines: bytes) -> bytes:
    """Return lines with spaces and tabs reduced, and without those at their ends."""
    lines = _squeezed(lines)
    return lines.replace(b" \r\n", _CRLF) if b" \r\n" in lines else lines


def _pieces(body: bytes) -> Iterator[bytes]:
    """Yield a body in pieces of whole lines: one call keeps all other threads from running."""
    start = 0
    while start < len(body):
        found = body.find(_CRLF, start + PIECE_BYTES)
        end = len(body) if found < 0 else found + len(_CRLF)
        yield body[start:end]
        start = end


def _crlfs_before(body: bytes, end: int) -> int:
    """Return how many bytes before `end` consist of CR LF pairs only."""
    others = len(body[:end].rstrip(_CRLF))
    ends = body[others:end]
    # The pairs begin after the last wrong sequence: LF LF or CR CR.
    wrong = max(ends.rfind(b"\n\n"), ends.rfind(b"\r\r"))
    kept = wrong + 1 if wrong >= 0 else 0
    kept += ends[kept : kept + 1] == b"\n"
    return len(ends) - kept


def body_hash(body: bytes) -> bytes:
    """Return the SHA-256 digest of the canonical body."""
    return hashlib.sha256(relaxed_body(body)).digest()


def relaxed_headers(head: bytes) -> dict[bytes, list[bytes]]:
    """Return the canonical values of each header, top to bottom, by its name in lower case.

    `head` is everything before the empty line.
    """
    if b"\t" in head:
        head = head.replace(b"\t", b" ")
    unfolded = _squeezed(head.replace(b"\r\n ", b" "))
    found: dict[bytes, list[bytes]] = {}
    for line in unfolded.split(_CRLF):
        name, _, value = line.partition(b":")
        found.setdefault(name.rstrip(b" ").lower(), []).append(value.strip(b" "))
    return found


def _squeezed(text: bytes) -> bytes:
    if b"\t" in text:
        text = text.replace(b"\t", b" ")
    if b"  " in text:  # each pass halves the runs: much faster than a regular expression
        while b"  " in text:
            text = text.replace(b"  ", b" ")
    return text
