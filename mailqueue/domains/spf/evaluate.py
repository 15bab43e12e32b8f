"""The result of SPF for one mail: `check_host()` of RFC 7208 section 4."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from re import Match
from urllib.parse import quote

from mailqueue.core.outbound_guard import IpAddress
from mailqueue.domains.resolver import Resolver, Unresolved
from mailqueue.domains.spf.record import (
    LOOKUP_TERMS,
    MACRO,
    SpfError,
    Term,
    is_spf,
    read_terms,
)

MAX_LOOKUPS = 10  # RFC 7208 4.6.4
MAX_VOID = 2  # lookups without a result
MAX_HOSTS = 10  # of one mx mechanism
MAX_NAMES = 10  # reverse names of the address that are looked up
_RESULTS = {"+": "pass", "-": "fail", "~": "softfail", "?": "neutral"}


@dataclass
class SpfMail:
    """What a receiver knows of a mail, and the cost of evaluating it."""

    resolver: Resolver
    address: IpAddress
    sender: str
    helo: str
    lookups: int = 0
    void: int = 0
    names: list[str] | None = field(default=None)  # of the address, confirmed


async def check_host(resolver: Resolver, *, address: str, sender: str, helo: str) -> str:
    """Return the result of SPF for a mail.

    `address` is that of the sending server, `sender` the envelope's, which may be empty, `helo` the
    name in the server's HELO. Results: none, neutral, pass, fail, softfail, temperror, permerror.
    """
    local, _, domain = (sender or f"postmaster@{helo}").rpartition("@")
    mail = SpfMail(resolver, _plain(address), f"{local or 'postmaster'}@{domain}", helo)
    try:
        return await _check(mail, domain)
    except SpfError:
        return "permerror"
    except Unresolved:
        return "temperror"


async def _check(mail: SpfMail, domain: str) -> str:
    if not is_host_name(domain) or "." not in domain.rstrip("."):
        return "none"
    records = [text for text in await mail.resolver.texts(domain) if is_spf(text)]
    if not records:
        return "none"
    if len(records) > 1:
        raise SpfError(f"{domain} has {len(records)} SPF records")
    terms = read_terms(records[0])
    for term in terms:
        if term.kind in LOOKUP_TERMS:
            mail.lookups += 1
            if mail.lookups > MAX_LOOKUPS:
                raise SpfError(f"the record needs more than {MAX_LOOKUPS} DNS lookups")
        if term.kind == "redirect":
            result = await _check(mail, await _expanded(mail, term.domain, domain))
            if result == "none":
                raise SpfError(f"{term.domain} has no SPF record")
            return result
        if await _matches(mail, term, domain):
            return _RESULTS[term.qualifier]
    return "neutral"


async def _matches(mail: SpfMail, term: Term, domain: str) -> bool:
    if term.kind == "all":
        return True
    if term.network is not None:
        return term.network.version == mail.address.version and mail.address in term.network
    name = await _expanded(mail, term.domain, domain) if term.domain else domain
    match term.kind:
        case "include":
            result = await _check(mail, name)
            if result == "none":
                raise SpfError(f"{name} has no SPF record")
            return result == "pass"
        case "a":
            return _is_in(mail, await _addresses(mail, name), term)
        case "exists":
            return bool(await _addresses(mail, name, version=4))
        case "mx":
            return await _is_mail_host(mail, name, term)
        case _:
            return await _is_named(mail, name)


async def _is_mail_host(mail: SpfMail, name: str, term: Term) -> bool:
    hosts = await mail.resolver.mail_hosts(name) if is_host_name(name) else []
    _note(mail, hosts)
    if len(hosts) > MAX_HOSTS:
        raise SpfError(f"{name} has {len(hosts)} mail hosts, above {MAX_HOSTS}")
    for each in hosts:
        if is_host_name(each.host):
            found = await mail.resolver.addresses(each.host, version=mail.address.version)
            if _is_in(mail, found, term):
                return True
    return False


async def _is_named(mail: SpfMail, name: str) -> bool:
    name = name.rstrip(".").lower()
    return any(each == name or each.endswith(f".{name}") for each in await _names(mail))


async def _names(mail: SpfMail) -> list[str]:
    """Return the names of the address which lead back to it (RFC 7208 5.5)."""
    if mail.names is None:
        mail.names = []
        try:
            names = await mail.resolver.names_of(str(mail.address))
        except Unresolved:
            names = []
        _note(mail, names)
        for name in names[:MAX_NAMES]:
            try:
                found = await mail.resolver.addresses(name, version=mail.address.version)
            except Unresolved:
                continue
            if any(ip_address(each) == mail.address for each in found):
                mail.names.append(name)
    return mail.names


async def _addresses(mail: SpfMail, name: str, *, version: int | None = None) -> list[str]:
    if not is_host_name(name):
        return []
    found = await mail.resolver.addresses(name, version=version or mail.address.version)
    _note(mail, found)
    return found


def _note(mail: SpfMail, records: Sequence[object]) -> None:
    mail.void += not records
    if mail.void > MAX_VOID:
        raise SpfError(f"more than {MAX_VOID} lookups have no result")


def _is_in(mail: SpfMail, addresses: list[str], term: Term) -> bool:
    prefix = term.prefix4 if mail.address.version == 4 else term.prefix6
    return any(mail.address in ip_network((each, prefix), strict=False) for each in addresses)


async def _expanded(mail: SpfMail, text: str, domain: str) -> str:
    """Return a domain with its macros expanded, without the labels for which there is no room."""
    if "%" not in text:
        return text
    names = await _names(mail) if "%{p" in text.lower() else []
    name = MACRO.sub(lambda macro: _value(mail, macro, domain, names), text).removesuffix(".")
    while len(name) > 253 and "." in name:
        name = name.partition(".")[2]
    return name


def _value(mail: SpfMail, macro: Match[str], domain: str, names: list[str]) -> str:
    """Return what a macro stands for (RFC 7208 7)."""
    if macro["escape"]:
        return {"%": "%", "_": " ", "-": "%20"}[macro["escape"]]
    letter = macro["letter"]
    local, _, of_sender = mail.sender.rpartition("@")
    text = {
        "s": mail.sender,
        "l": local,
        "o": of_sender,
        "d": domain,
        "i": _dotted(mail.address),
        "p": _name_for(domain, names),
        "v": "in-addr" if mail.address.version == 4 else "ip6",
        "h": mail.helo,
    }[letter.lower()]
    for delimiter in macro["delimiters"][1:]:
        text = text.replace(delimiter, macro["delimiters"][0])
    parts = text.split(macro["delimiters"][:1] or ".")
    if macro["reversed"]:
        parts.reverse()
    if macro["labels"]:
        parts = parts[-int(macro["labels"]) :]
    return quote(".".join(parts), safe="") if letter.isupper() else ".".join(parts)


def _name_for(domain: str, names: list[str]) -> str:
    """Return the name that p stands for: the domain, a name in it, another one, or "unknown"."""
    own = domain.lower()
    inside = [name for name in names if name.endswith(f".{own}")]
    return next(iter([own] * (own in names) + inside + names), "unknown")


def _dotted(address: IpAddress) -> str:
    """Return the labels of an address: four numbers, or 32 hexadecimal digits."""
    if isinstance(address, IPv4Address):
        return str(address)
    return ".".join(address.exploded.replace(":", ""))


def _plain(address: str) -> IpAddress:
    """Return an address; an IPv4 address inside an IPv6 one is the former."""
    found = ip_address(address)
    return (isinstance(found, IPv6Address) and found.ipv4_mapped) or found


def is_host_name(name: str) -> bool:
    """Return whether a name can be looked up: labels of 1 to 63 characters, at most 253 in all."""
    labels = name.removesuffix(".").split(".")
    return len(name) <= 254 and all(0 < len(label) <= 63 for label in labels)
