"""Searches dumps and files for an address by decoding what they contain, without our patterns."""

import base64
import binascii
import gzip
import quopri
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote_to_bytes

_HEX = re.compile(rb"\\\\?x((?:[0-9a-f]{2})+)")
_BASE64 = re.compile(rb"[A-Za-z0-9+/](?:[A-Za-z0-9+/]|\r?\n){18,}")
_ESCAPE = re.compile(rb"\\+u([0-9a-fA-F]{4})")


def forms_of(address: str) -> list[bytes]:
    """Return an address with its domain in Unicode and in A-labels, in lower case."""
    local, _, domain = address.lower().rpartition("@")
    domains = (domain, domain.encode("idna").decode())
    return [f"{local}@{each}".encode() for each in dict.fromkeys(domains)]


def found_in(octets: bytes, address: str) -> dict[str, list[bytes]]:
    """Return what surrounds the address, by the encoding in which it was found."""
    found: dict[str, list[bytes]] = {}
    for encoding, text in _views(octets):
        for form in forms_of(address):
            for at in re.finditer(re.escape(form), _lower(text)):
                found.setdefault(encoding, []).append(text[max(0, at.start() - 40) : at.end() + 10])
    return found


def files_in(*folders: Path) -> bytes:
    """Return the content of all files, decompressed."""
    return b"\n".join(
        gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    )


def _lower(octets: bytes) -> bytes:
    return octets.decode("utf-8", "surrogateescape").lower().encode("utf-8", "surrogateescape")


def _views(octets: bytes, depth: int = 0) -> Iterator[tuple[str, bytes]]:
    yield "plain", octets
    yield "percent", _other(octets, unquote_to_bytes(octets))
    yield "quoted-printable", _other(octets, quopri.decodestring(octets))
    yield (
        "json",
        _other(
            octets, _ESCAPE.sub(lambda one: chr(int(one[1], 16)).encode("utf-8", "replace"), octets)
        ),
    )
    for run in _BASE64.finditer(octets):
        digits = re.sub(rb"\s", b"", run[0])
        for start in range(4):
            part = digits[start : start + (len(digits) - start) // 4 * 4]
            try:
                yield "base64", base64.b64decode(part)
            except binascii.Error:
                continue
    if depth == 0:
        for one in _HEX.finditer(octets):
            for encoding, text in _views(bytes.fromhex(one[1].decode()), 1):
                yield f"{encoding} in bytes", text


def _other(octets: bytes, decoded: bytes) -> bytes:
    return decoded if decoded != octets else b""
