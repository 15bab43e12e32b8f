"""Decides the octets a signature covers: relaxed headers, relaxed body (RFC 6376 3.4). Pure.

Lines end in CRLF, as in every message of ours; a bare CR or LF is a character like others.
"""

import hashlib

_CRLF = b"\r\n"


def relaxed_body(body: bytes) -> bytes:
    """Return the canonical body: runs of blanks are one space, none ends a line or the body."""
    body = _squeezed(body)
    if b" \r\n" in body:
        body = body.replace(b" \r\n", _CRLF)
    end = len(body)
    if body.endswith(b" "):  # a last line without its end
        end -= 1
    if body.endswith(_CRLF, 0, end):
        end -= _crlfs_before(body, end)
    return body[:end] + _CRLF if end else b""


def _crlfs_before(body: bytes, end: int) -> int:
    """Return how many bytes before `end` are nothing but pairs of CR and LF."""
    others = len(body[:end].rstrip(_CRLF))
    ends = body[others:end]
    # What is left of them begins behind the last pair the wrong way round: LF LF, CR CR.
    wrong = max(ends.rfind(b"\n\n"), ends.rfind(b"\r\r"))
    kept = wrong + 1 if wrong >= 0 else 0
    kept += ends[kept : kept + 1] == b"\n"
    return len(ends) - kept


def body_hash(body: bytes) -> bytes:
    """Return the SHA-256 of the canonical body."""
    return hashlib.sha256(relaxed_body(body)).digest()


def relaxed_headers(head: bytes) -> dict[bytes, list[bytes]]:
    """Return the canonical values of each header, from top to bottom, by name in lower case.

    `head` is all before the empty line.
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
    if b"  " in text:  # each turn halves a run: far cheaper than one expression over all
        while b"  " in text:
            text = text.replace(b"  ", b" ")
    return text
