"""Checks a domain's mail hosts, and the reverse name of a sending address."""

import asyncio

from mailqueue.contract.domains import DnsRecord, DomainFinding, FindingStatus
from mailqueue.domains.resolver import Resolver, Unresolved

MX, REVERSE = "MX", "reverse name"


async def check_mail_hosts(domain: str, resolver: Resolver) -> DomainFinding:
    """Check whether replies and bounces to a domain reach a mail host."""
    try:
        hosts = await resolver.mail_hosts(domain)
        own = [] if hosts else await resolver.addresses(domain)
        named = [host for host in hosts if host.host]
        addresses = await asyncio.gather(*(resolver.addresses(host.host) for host in named))
    except Unresolved as exc:
        return DomainFinding(MX, FindingStatus.UNKNOWN, str(exc))
    found = tuple(f"{host.preference} {host.host or '.'}" for host in hosts)
    wanted = (DnsRecord(domain, "MX", f"10 mail.{domain}."),)
    if not hosts and own:
        says = "there is no MX record; mail is delivered to the domain's A or AAAA address"
        return DomainFinding(MX, FindingStatus.WARN, says, tuple(own), wanted)
    if not hosts:
        says = "no host accepts mail for the domain: replies and bounces are lost"
        return DomainFinding(MX, FindingStatus.FAIL, says, (), wanted)
    if not named:
        says = "a null MX (RFC 7505) says it accepts no mail: receivers refuse mail from it"
        return DomainFinding(MX, FindingStatus.FAIL, says, found, wanted)
    lost = [host.host for host, each in zip(named, addresses, strict=True) if not each]
    if len(lost) == len(named):
        return DomainFinding(MX, FindingStatus.FAIL, f"{', '.join(lost)} has no address", found)
    if lost:
        return DomainFinding(MX, FindingStatus.WARN, f"{', '.join(lost)} has no address", found)
    return DomainFinding(MX, FindingStatus.PASS, f"mail is accepted by {named[0].host}", found)


async def check_reverse_name(address: str, resolver: Resolver) -> DomainFinding:
    """Check whether an address has a reverse name that resolves back to it (FCrDNS)."""
    try:
        names = await resolver.names_of(address)
        back = await asyncio.gather(*(resolver.addresses(name) for name in names))
    except Unresolved as exc:
        return DomainFinding(REVERSE, FindingStatus.UNKNOWN, str(exc))
    found = tuple(names)
    if not names:
        says = f"{address} has no reverse name: ask the network's owner for a PTR record"
        return DomainFinding(REVERSE, FindingStatus.FAIL, says)
    good = [name for name, each in zip(names, back, strict=True) if address in each]
    if not good:
        says = f"{address} has the name {', '.join(names)}, which does not resolve back to it"
        kind = "AAAA" if ":" in address else "A"
        return DomainFinding(
            REVERSE, FindingStatus.FAIL, says, found, (DnsRecord(names[0], kind, address),)
        )
    return DomainFinding(
        REVERSE,
        FindingStatus.PASS,
        f"{address} has the name {good[0]}, which resolves back to it",
        found,
    )
