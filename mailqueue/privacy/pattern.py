"""Build the pattern that finds a person's address, in every encoding programs use. Pure."""

import re
from collections.abc import Sequence
from urllib.parse import quote

MAX_SPELLING = 1_000
"""Length of an address, in characters."""

# In URLs, quoted-printable, JSON, HTML, and in return paths (ann=example.com).
_AT = r"(?:@|%40|=40|\\u0040|&#0*64;|&#x0*40;|&commat;|=)"
# Not within a longer address; but after the prefixes of other encodings: %3D, =3D, \n, \u00fc.
_BEFORE = (
    r"(?:(?<![a-z0-9._+-])|(?<=%[0-9a-f][0-9a-f])|(?<==[0-9a-f][0-9a-f])"
    r"|(?<=\\[bfnrt])|(?<=\\u[0-9a-f][0-9a-f][0-9a-f][0-9a-f])|(?<=\\[0-7][0-7][0-7]))"
)
_AFTER = r"(?![a-z0-9-]|\.[a-z0-9])"
_SPECIAL = re.compile(r"([][.*+?^$(){}|\\/#&'!%=~`-])")


def pattern_of(spellings: Sequence[str]) -> str:
    """Return a regular expression for an address that PostgreSQL and Python read alike.

    Use it without regard to case.

    Raises:
        ValueError: one of them is no address, and its pattern might find anything.
    """
    for each in spellings:
        if not isinstance(each, str) or not all(each.rpartition("@")) or len(each) > MAX_SPELLING:
            raise ValueError(f"cannot look for {str(each)[:100]!r}: it is no address")
    if not spellings:
        raise ValueError("cannot look for a person without an address")
    return _BEFORE + "(?:" + "|".join(_one(each) for each in spellings) + ")" + _AFTER


def matcher_of(spellings: Sequence[str]) -> re.Pattern[str]:
    """Return the compiled pattern for Python."""
    return re.compile(pattern_of(spellings), re.IGNORECASE)


def _one(address: str) -> str:
    local, _, domain = address.rpartition("@")
    return f"(?:{'|'.join(_spellings(local))}){_AT}(?:{'|'.join(_spellings(domain))})"


def _spellings(part: str) -> list[str]:
    """Return the local part or domain as written in plain text, URLs, JSON and PostgreSQL's bytea
    escapes.
    """
    octal = "".join(chr(one) if one < 0x80 else f"\\{one:03o}" for one in part.encode())
    escaped = "".join(one if one.isascii() else f"\\u{ord(one):04x}" for one in part)
    found = dict.fromkeys((part, quote(part, safe=""), octal, escaped))
    return [_SPECIAL.sub(r"\\\1", one) for one in found]
