"""The DNS records of DKIM keys: text, zone file format and parsing. Pure."""

import re
from base64 import b64decode
from binascii import Error as NotBase64

from mailqueue.dkim.keys import Algorithm

MAX_STRING_BYTES = 255  # bytes in one string of a TXT record, RFC 1035 3.3.14
MAX_RECORD_CHARACTERS = 8192
"""Characters of a TXT record that are parsed: several times those of the largest key."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_BLANK = re.compile(r"\s+")


def record_name(selector: str, domain: str) -> str:
    """Return the name of a key's record."""
    return f"{selector}._domainkey.{domain}"


def record_text(algorithm: Algorithm, public: str) -> str:
    """Return the text of a key's TXT record; an empty `public` means that the key is revoked."""
    return f"v=DKIM1; k={algorithm.key_type}; p={public}"


def strings(text: str) -> list[str]:
    """Return the record split into strings of at most MAX_STRING_BYTES bytes."""
    return [text[at : at + MAX_STRING_BYTES] for at in range(0, len(text), MAX_STRING_BYTES)] or [
        ""
    ]


def zone_line(name: str, text: str) -> str:
    """Return a TXT record in the format of zone files and most DNS providers."""
    quoted = " ".join(f'"{string}"' for string in strings(text))
    return f"{name}. IN TXT {quoted if len(text) <= MAX_STRING_BYTES else f'( {quoted} )'}"


def read_tags(text: str) -> dict[str, str] | None:
    """Return the tags of a tag list (RFC 6376 3.2) by name; None if it is not valid.

    Duplicate tags and texts longer than MAX_RECORD_CHARACTERS are not valid.
    """
    found: dict[str, str] = {}
    if len(text) > MAX_RECORD_CHARACTERS:
        return None
    for part in text.split(";"):
        if not part.strip():
            continue
        name, equals, value = part.partition("=")
        name = name.strip()
        if not equals or name in found or _NAME.fullmatch(name) is None:
            return None
        found[name] = value.strip()
    return found


def is_test(text: str) -> bool:
    """Return whether a record says that its domain only tests DKIM (`t=y`, RFC 6376 3.6.1)."""
    flags = (read_tags(text) or {}).get("t", "")
    return "y" in {flag.strip() for flag in flags.split(":")}


def key_fault(text: str, *, algorithm: Algorithm, public: str) -> str | None:
    """Return why a record does not publish this key, or None if it does."""
    if len(text) > MAX_RECORD_CHARACTERS:
        return f"the record is longer than {MAX_RECORD_CHARACTERS} characters"
    tags = read_tags(text)
    if tags is None:
        return "the record is not a list of tags"
    if next(iter(tags), "") != "v" and "v" in tags:
        return "v= is not the first tag"
    if tags.get("v", "DKIM1") != "DKIM1":
        return f"the version is {tags['v']!r}, not DKIM1"
    if tags.get("k", "rsa") != algorithm.key_type:
        return (
            f"the record is for keys of type {tags.get('k', 'rsa')!r}, not {algorithm.key_type!r}"
        )
    if "sha256" not in tags.get("h", "sha256").replace(" ", "").split(":"):
        return "h= does not allow sha256"
    if not {"email", "*"} & set(tags.get("s", "*").replace(" ", "").split(":")):
        return "s= does not allow email"
    found = _BLANK.sub("", tags.get("p", ""))
    if not found:
        return "p= is empty: the key is revoked"
    return None if _octets(found) == _octets(public) else "the record has another key"


def _octets(text: str) -> bytes | None:
    try:
        return b64decode(text + "=" * (-len(text) % 4), validate=True)
    except NotBase64:
        return None
