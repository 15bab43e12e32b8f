"""Parses SPF records (RFC 7208 4.6, 5, 6). Pure."""

import re
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network

LOOKUP_TERMS = frozenset({"include", "a", "mx", "ptr", "exists", "redirect"})
"""Terms that need a DNS lookup; ten are allowed, including those of included records."""

MAX_RECORD_CHARACTERS = 8192
"""Characters of a record that are parsed; RFC 7208 3.4 recommends at most 450."""
_MECHANISM = re.compile(
    r"([+\-~?]?)([A-Za-z][A-Za-z0-9]*)(?::([^/]*))?((?:/\d{1,3})?(?://\d{1,3})?)"
)
_MODIFIER = re.compile(r"([A-Za-z][A-Za-z0-9_.-]*)=(.*)")
_NEEDS_DOMAIN = frozenset({"include", "exists"})
_MAY_HAVE_DOMAIN = frozenset({"a", "mx", "ptr"})


class SpfError(ValueError):
    """Receivers cannot evaluate the record and may refuse mail; the message says why."""


@dataclass(frozen=True, slots=True)
class Term:
    """One mechanism or a redirect modifier. `domain` "" is the record's own domain."""

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
    mechanisms: list[Term] = []
    redirects: list[Term] = []
    for word in text.split()[1:]:
        modifier = _MODIFIER.fullmatch(word)
        if modifier is None:
            mechanisms.append(_mechanism(word))
        elif modifier[1].lower() == "redirect":
            redirects.append(Term("redirect", domain=modifier[2].rstrip(".").lower()))
    if len(redirects) > 1 or any(not each.domain for each in redirects):
        raise SpfError("redirect= must occur once and name one domain")
    return [*mechanisms, *redirects]


def _mechanism(word: str) -> Term:
    # IPv6 networks contain colons.
    if (address := re.fullmatch(r"([+\-~?]?)(ip[46]):(.+)", word, re.IGNORECASE)) is not None:
        return _address(word, address[1] or "+", address[2].lower(), address[3])
    found = _MECHANISM.fullmatch(word)
    if found is None:
        raise SpfError(f"{word!r} is not an SPF term")
    qualifier, kind, domain, prefixes = found[1] or "+", found[2].lower(), found[3], found[4]
    if kind == "all" and domain is None and not prefixes:
        return Term("all", qualifier)
    if kind in _NEEDS_DOMAIN and domain and not prefixes:
        return Term(kind, qualifier, domain.rstrip(".").lower())
    if kind in _MAY_HAVE_DOMAIN and domain != "":
        prefix4, prefix6 = _prefixes(word, prefixes)
        own = (domain or "").rstrip(".").lower()
        return Term(kind, qualifier, own, prefix4=prefix4, prefix6=prefix6)
    raise SpfError(f"{word!r} is not an SPF term")


def _address(word: str, qualifier: str, kind: str, text: str) -> Term:
    try:
        network = ip_network(text, strict=False)
    except ValueError:
        raise SpfError(f"{word!r} is not a network") from None
    if network.version != int(kind[-1]):
        raise SpfError(f"{word!r} has an address of the other IP version")
    return Term(kind, qualifier, network=network)


def _prefixes(word: str, text: str) -> tuple[int, int]:
    four, _, six = text.partition("//")
    prefix4, prefix6 = int(four[1:] or 32), int(six or 128)
    if prefix4 > 32 or prefix6 > 128:
        raise SpfError(f"{word!r} has a prefix that is too long")
    return prefix4, prefix6
