"""Parses SPF records by the grammar of RFC 7208 section 12. Pure."""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

LOOKUP_TERMS = frozenset({"include", "a", "mx", "ptr", "exists", "redirect"})
"""Terms that need a DNS lookup; ten are allowed, including those of included records."""

MAX_RECORD_CHARACTERS = 8192
"""Characters of a record that are parsed; RFC 7208 3.4 recommends at most 450."""
MACRO = re.compile(
    r"%(?:\{(?P<letter>[slodiphv])(?P<labels>[0-9]{0,3})(?P<reversed>r?)(?P<delimiters>[.\-+,/_=]{0,7})\}"
    r"|(?P<escape>[%_-]))",
    re.IGNORECASE,
)
_LITERAL = re.compile(r"[!-$&-~]*")
_MODIFIER = re.compile(r"([A-Za-z][A-Za-z0-9_.-]*)=(.*)")
_MECHANISM = re.compile(r"([+\-~?]?)([A-Za-z][A-Za-z0-9_.-]*)")
_TOP_LABEL = re.compile(r"(?!-)(?![0-9]+$)[A-Za-z0-9-]*[A-Za-z0-9]")
_NEEDS_DOMAIN = frozenset({"include", "exists"})
_MAY_HAVE_PREFIX = frozenset({"a", "mx"})


class SpfError(ValueError):
    """Receivers cannot evaluate the record and may refuse mail; the message says why."""


@dataclass(frozen=True, slots=True)
class Term:
    """One mechanism or a redirect modifier.

    `domain` "" is the record's own domain; it may hold macros.
    """

    kind: str
    qualifier: str = "+"
    domain: str = ""
    network: IPv4Network | IPv6Network | None = None  # of ip4 and ip6
    prefix4: int = 32
    prefix6: int = 128


def is_spf(text: str) -> bool:
    """Return whether a TXT record is an SPF record."""
    return text.lower() == "v=spf1" or text.lower().startswith("v=spf1 ")


def read_terms(text: str) -> list[Term]:
    """Return the terms in order, a redirect last, as it is evaluated last.

    Raises:
        SpfError: a term is not valid, or the record is longer than MAX_RECORD_CHARACTERS.
    """
    if len(text) > MAX_RECORD_CHARACTERS:
        raise SpfError(f"the record is longer than {MAX_RECORD_CHARACTERS} characters")
    if not (text.isascii() and text.isprintable()):
        raise SpfError("the record has characters other than printable ASCII")
    mechanisms: list[Term] = []
    modifiers: dict[str, str] = {}
    for word in text.split(" ")[1:]:
        if not word:
            continue
        modifier = _MODIFIER.fullmatch(word)
        if modifier is None:
            mechanisms.append(_mechanism(word))
            continue
        name = modifier[1].lower()
        if name not in ("redirect", "exp"):
            _check_macros(word, modifier[2])
            continue
        if name in modifiers:
            raise SpfError(f"{name}= occurs twice")
        modifiers[name] = _domain(word, modifier[2])
    redirect = modifiers.get("redirect")
    return mechanisms if redirect is None else [*mechanisms, Term("redirect", domain=redirect)]


def _mechanism(word: str) -> Term:
    found = _MECHANISM.match(word)
    if found is None:
        raise SpfError(f"{word!r} is not an SPF term")
    qualifier, kind, rest = found[1] or "+", found[2].lower(), word[found.end() :]
    if kind == "all" and not rest:
        return Term(kind, qualifier)
    if kind in ("ip4", "ip6") and rest.startswith(":"):
        return Term(kind, qualifier, network=_network(word, kind, rest[1:]))
    if kind in _NEEDS_DOMAIN and rest.startswith(":"):
        return Term(kind, qualifier, _domain(word, rest[1:]))
    if kind == "ptr" and (not rest or rest.startswith(":")):
        return Term(kind, qualifier, _domain(word, rest[1:]) if rest else "")
    if kind in _MAY_HAVE_PREFIX:
        rest, prefix4, prefix6 = _prefixes(word, rest)
        if not rest or rest.startswith(":"):
            domain = _domain(word, rest[1:]) if rest else ""
            return Term(kind, qualifier, domain, prefix4=prefix4, prefix6=prefix6)
    raise SpfError(f"{word!r} is not an SPF term")


def _prefixes(word: str, text: str) -> tuple[str, int, int]:
    """Return what stands before the prefix lengths, and both."""
    prefix4, prefix6 = 32, 128
    head, found, tail = text.rpartition("//")
    if found and tail.isdigit():
        text, prefix6 = head, _prefix(word, tail, 128)
    head, found, tail = text.rpartition("/")
    if found and tail.isdigit():
        text, prefix4 = head, _prefix(word, tail, 32)
    return text, prefix4, prefix6


def _prefix(word: str, text: str, longest: int) -> int:
    if len(text) > 3 or (text[0] == "0" and text != "0") or int(text) > longest:
        raise SpfError(f"{word!r} has a prefix length that is not a number from 0 to {longest}")
    return int(text)


def _network(word: str, kind: str, text: str) -> IPv4Network | IPv6Network:
    address, found, prefix = text.partition("/")
    longest = 32 if kind == "ip4" else 128
    try:
        plain = IPv4Address(address) if kind == "ip4" else IPv6Address(address)
    except ValueError:
        raise SpfError(f"{word!r} has no address of IPv{kind[-1]}") from None
    if "%" in address or (found and not prefix.isdigit()):
        raise SpfError(f"{word!r} is not a network")
    length = _prefix(word, prefix, longest) if found else longest
    return ip_network((plain, length), strict=False)


def _domain(word: str, text: str) -> str:
    """Return a domain, in which macros may stand (`domain-spec`)."""
    end = _check_macros(word, text)
    labels = (end[:-1] if end.endswith(".") else end).split(".")
    if not text or (end and (len(labels) < 2 or not _TOP_LABEL.fullmatch(labels[-1]))):
        raise SpfError(f"{word!r} does not name a domain")
    return text.removesuffix(".").lower() if end == text else text


def _check_macros(word: str, text: str) -> str:
    """Return the text after the last macro.

    Raises:
        SpfError: a macro is not valid.
    """
    at = 0
    while True:
        literal = _LITERAL.match(text, at)
        assert literal is not None  # it may be empty
        if literal.end() == len(text):
            return literal[0]
        macro = MACRO.match(text, literal.end())
        if macro is None or (macro["labels"] and int(macro["labels"]) == 0):
            raise SpfError(f"{word!r} has a macro that is not valid")
        at = macro.end()
