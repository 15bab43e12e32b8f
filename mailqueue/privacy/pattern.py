"""Build the pattern that finds a person's address, in every encoding programs use. Pure."""

import re
from collections.abc import Iterator, Sequence
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
_ENCODED = "(?#64)"
"""Stands between the pattern of text and that of encoded text."""
_LINE_BREAK = r"(?:[\r\n]|\\+[rn])*"
_SOFT_BREAK = r"(?:=\r?\n)?"
_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
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
    core = "(?:" + "|".join(_one(each) for each in spellings) + ")"
    return _BEFORE + core + _AFTER


def search_of(spellings: Sequence[str]) -> str:
    """Return what SQL searches tables by: the pattern, and that of encoded text in bytes.

    Raises:
        ValueError: one of them is no address.
    """
    plain = pattern_of(spellings)  # first: it takes hours to encode what is no address
    encoded = [part for each in spellings for part in _encoded(each)]
    return plain + _ENCODED + "|".join(dict.fromkeys(encoded))


def matcher_of(spellings: Sequence[str], *, is_within: bool = False) -> re.Pattern[str]:
    """Return the compiled pattern for Python; with `is_within` also as a part of longer words."""
    found = "|".join(map(_one, spellings)) if is_within else pattern_of(spellings)
    return re.compile(found, re.IGNORECASE)


def _one(address: str) -> str:
    local, _, domain = address.rpartition("@")
    return f"(?:{'|'.join(_spellings(local))}){_AT}(?:{'|'.join(_spellings(domain))})"


def _spellings(part: str) -> list[str]:
    """Return the local part or domain as written in plain text, URLs, JSON, quoted-printable and
    PostgreSQL's bytea escapes; letters beyond ASCII also in upper case.
    """
    found = dict[str, None]()
    for one in (part,) if part.isascii() else (part, part.upper()):
        octal = "".join(chr(each) if each < 0x80 else f"\\{each:03o}" for each in one.encode())
        escaped = "".join(each if each.isascii() else f"\\u{ord(each):04x}" for each in one)
        quoted = "".join(chr(each) if each < 0x80 else f"={each:02x}" for each in one.encode())
        found |= dict.fromkeys((one, quote(one, safe=""), octal, escaped, quoted))
    return [_SPECIAL.sub(r"\\\1", one) for one in found]


def _encoded(address: str) -> Iterator[str]:
    """Yield the patterns of an address in base64, and in quoted-printable with broken lines.

    Base64 depends on the place in groups of three bytes, and on upper and lower case.
    """
    for one in (address, address.upper()):
        for place in range(3):
            yield _LINE_BREAK.join(_base64_of(one.encode(), place))
        local, _, domain = one.rpartition("@")
        yield _SOFT_BREAK.join(
            [*map(_quoted_printable, local), "(?:@|=40)", *map(_quoted_printable, domain)]
        )


def _base64_of(octets: bytes, place: int) -> list[str]:
    """Return what base64 has for bytes behind `place` unknown ones, a pattern for each digit."""
    bits = "?" * 8 * place + "".join(f"{one:08b}" for one in octets)
    bits += "?" * (-len(bits) % 6)
    groups = [bits[start : start + 6] for start in range(0, len(bits), 6)]
    return [_digit(group) for group in groups if group != "??????"]


def _digit(bits: str) -> str:
    """Return a pattern of the base64 digits with these bits; `?` is either."""
    fitting = [
        digit
        for number, digit in enumerate(_BASE64)
        if all(bit in ("?", known) for bit, known in zip(bits, f"{number:06b}", strict=True))
    ]
    return re.escape(fitting[0]) if len(fitting) == 1 else f"[{''.join(fitting)}]"


def _quoted_printable(letter: str) -> str:
    """Return a pattern of one letter in quoted-printable, raw, or in PostgreSQL's octal escapes."""
    octets = letter.encode()
    if letter.isascii() and letter.isalnum():
        return letter
    coded = _SOFT_BREAK.join(f"={one:02x}" for one in octets)
    octal = "".join(f"\\\\{one:03o}" for one in octets)
    raw = _SPECIAL.sub(r"\\\1", letter) if letter.isascii() else octal
    return f"(?:{raw}|{coded})"
