"""Verify tracking domains: links begin with a project's own domain once its DNS leads here."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from ipaddress import ip_address
from urllib.parse import urlsplit

from mailqueue.contract.domains import (
    DnsRecord,
    DomainFinding,
    FindingStatus,
    TrackingDomainCheck,
    TrackingDomainStatus,
)
from mailqueue.core.errors import Conflict, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.domains.resolver import Resolver, Unresolved
from mailqueue.tracking import store
from mailqueue.tracking.model import TrackingDomain

LINKS = "tracked links"


async def project_of(conn: Conn, project: str) -> TrackingDomain:
    """Return a project with its tracking domain.

    Raises:
        NotFound: there is none.
    """
    found = await store.find_domain(conn, project)
    if found is None:
        raise NotFound("project", project)
    return found


def status_of(domain: TrackingDomain, *, public_url: str | None) -> TrackingDomainStatus:
    """Return the domain of links in a project's emails. Pure."""
    begin = public_url if domain.checked_at is None else f"https://{domain.domain}"
    return TrackingDomainStatus(begin, domain.domain, domain.checked_at)


async def look_up(
    domain: TrackingDomain, *, public_url: str | None, resolver: Resolver
) -> TrackingDomainCheck:
    """Return where DNS leads a project's tracking domain; uses no database connection.

    Raises:
        Conflict: the project has none, or MAILQUEUE_PUBLIC_URL is not set.
    """
    if domain.domain is None:
        raise Conflict(
            "the project has no tracking domain: "
            "mailqueue project change PROJECT --tracking-domain links.example.com"
        )
    if public_url is None:
        raise Conflict("MAILQUEUE_PUBLIC_URL is not set: tracked links need it")
    host = urlsplit(public_url).hostname or ""
    publish, address = _record(domain.domain, host)
    try:
        here = await resolver.addresses(domain.domain)
        there = await resolver.addresses(host) if address is None else [address]
    except Unresolved as exc:
        return _check(domain, None, str(exc), publish=publish)
    if not here:
        says = f"{domain.domain} has no address"
    elif not there:
        says = f"{host} has no address"
    elif set(here) <= set(there):
        says = f"{domain.domain} resolves to the same address as {host}"
        return _check(domain, True, says, publish=publish, here=here, there=there)
    else:
        says = f"{domain.domain} does not resolve to the address of {host}"
    return _check(domain, False, says, publish=publish, here=here, there=there)


async def finding_of(
    domain: TrackingDomain, *, public_url: str | None, resolver: Resolver
) -> DomainFinding:
    """Return whether DNS leads a project's tracking domain here, as a finding about its domain."""
    found = await look_up(domain, public_url=public_url, resolver=resolver)
    name, _, record = found.publish.partition(". IN ")
    kind, _, value = record.partition(" ")
    match found.leads_here:
        case True:
            return DomainFinding(LINKS, FindingStatus.PASS, found.says, found.found)
        case None:
            return DomainFinding(LINKS, FindingStatus.UNKNOWN, found.says)
        case False:
            wanted = (DnsRecord(name, kind, value),)
            return DomainFinding(LINKS, FindingStatus.FAIL, found.says, found.found, wanted)


def findings_about(
    domain: str, tracking: TrackingDomain, *, public_url: str | None, resolver: Resolver
) -> list[Callable[[], Awaitable[DomainFinding]]]:
    """Return the check of a project's tracking domain if it is in a domain, else nothing."""
    name = tracking.domain or ""
    if public_url is None or not f".{name}".endswith(f".{domain}"):
        return []
    return [partial(finding_of, tracking, public_url=public_url, resolver=resolver)]


async def noted(
    conn: Conn, domain: TrackingDomain, check: TrackingDomainCheck
) -> TrackingDomainCheck:
    """Store the result of a check; change nothing if DNS did not answer."""
    if check.leads_here is None:
        return check
    at = await store.note_domain(conn, domain.id, check.domain, leads_here=check.leads_here)
    return replace(check, verified_at=at)


def _check(
    domain: TrackingDomain,
    leads_here: bool | None,
    says: str,
    *,
    publish: str,
    here: Sequence[str] = (),
    there: Sequence[str] = (),
) -> TrackingDomainCheck:
    return TrackingDomainCheck(
        domain=domain.domain or "",
        leads_here=leads_here,
        says=says,
        found=tuple(sorted(here)),
        wanted=tuple(sorted(there)),
        publish=publish,
        verified_at=domain.checked_at,
    )


def _record(domain: str, host: str) -> tuple[str, str | None]:
    """Return the DNS record that leads to a host, and the host itself if it is an IP address."""
    try:
        address = ip_address(host)
    except ValueError:
        return f"{domain}. IN CNAME {host}.", None
    return f"{domain}. IN {'A' if address.version == 4 else 'AAAA'} {address}", str(address)


async def confirmed_domains(conn: Conn) -> frozenset[str]:
    """Return the tracking domains of all projects whose DNS leads here."""
    return frozenset(await store.confirmed_domains(conn))
