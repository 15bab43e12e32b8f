"""Checks a domain's DNS records: DKIM, SPF, DMARC and MX, with the records to publish."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from ipaddress import ip_address
from uuid import UUID

from mailqueue.contract.domains import DkimKeyStatus, DnsRecord, DomainFinding, FindingStatus
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.dkim.record import is_test
from mailqueue.domains import keys, store
from mailqueue.domains.dmarc import check_dmarc
from mailqueue.domains.findings import DomainFindings
from mailqueue.domains.hosts import check_mail_hosts, check_reverse_name
from mailqueue.domains.model import DkimKey, DomainCheck
from mailqueue.domains.publication import Publication, RecordState, look_up
from mailqueue.domains.resolver import Resolver
from mailqueue.domains.spf.check import check_spf

DKIM = "DKIM"


async def check(
    conn: Conn,
    project: str,
    *,
    domain: str,
    resolver: Resolver,
    address: str | None = None,
    also: Sequence[Callable[[], Awaitable[DomainFinding]]] = (),
) -> DomainFindings:
    """Check all records of a domain and store the findings, with those of `also`.

    `address` is an IP address that mail is sent from: SPF is evaluated for it, and its reverse name
    is checked.

    Raises:
        InvalidField: the domain or the address is not valid.
        NotFound: the project does not exist.
    """
    domain = keys.domain_of(domain)
    await keys.get_project(conn, project)
    mine = await store.list_keys(conn, project, domain=domain)
    findings = await look(domain, mine, resolver, address=address, also=also)
    return await record(conn, DomainFindings(project, domain, findings))


async def look(
    domain: str,
    mine: list[DkimKey],
    resolver: Resolver,
    *,
    address: str | None = None,
    also: Sequence[Callable[[], Awaitable[DomainFinding]]] = (),
) -> tuple[DomainFinding, ...]:
    """Return the findings for a domain with these keys, and those of `also`.

    Holds no transaction during DNS lookups.

    Raises:
        InvalidField: the address is not valid.
    """
    looks: list[Awaitable[DomainFinding]] = [
        check_spf(domain, resolver, address=None if address is None else _plain(address)),
        _check_dkim(domain, mine, resolver),
        check_dmarc(domain, resolver),
        check_mail_hosts(domain, resolver),
    ]
    if address is not None:
        looks.append(check_reverse_name(_plain(address), resolver))
    return tuple(await asyncio.gather(*looks, *(other() for other in also)))


async def record(conn: Conn, report: DomainFindings) -> DomainFindings:
    """Store the findings.

    Raises:
        NotFound: the project does not exist.
    """
    owner = await keys.get_project(conn, report.project)
    await store.record_check(
        conn,
        owner.id,
        domain=report.domain,
        is_good=report.is_good,
        findings=[asdict(each) for each in report.findings],
    )
    return report


async def last_checks(conn: Conn, project_id: UUID) -> list[DomainCheck]:
    """Return the newest stored check of each domain of a project."""
    return await store.list_last_checks(conn, project_id)


async def _check_dkim(domain: str, mine: list[DkimKey], resolver: Resolver) -> DomainFinding:
    return judged_keys(domain, await look_up(mine, resolver), now=datetime.now(UTC))


def judged_keys(domain: str, publications: list[Publication], *, now: datetime) -> DomainFinding:
    """Return the finding for the published records of a domain's keys. Pure."""
    faults = [(each, _fault(each, now)) for each in publications]
    failed = [each for each, fault in faults if fault is FindingStatus.FAIL]
    unknown = [each for each, fault in faults if fault is FindingStatus.UNKNOWN]
    waiting = [each for each, fault in faults if fault is FindingStatus.WARN]
    texts = tuple(f"{each.key.name}: {text}" for each in publications for text in each.records)
    signing = [
        each.key.selector for each in publications if each.key.status is DkimKeyStatus.ACTIVE
    ]
    if failed:
        says = "; ".join(f"{each.key.selector}: {each.why}" for each in failed)
        wanted = tuple(DnsRecord(each.key.name, "TXT", each.key.text) for each in failed)
        return DomainFinding(DKIM, FindingStatus.FAIL, says, texts, wanted)
    if unknown:
        says = "; ".join(f"{each.key.selector}: {each.why}" for each in unknown)
        return DomainFinding(DKIM, FindingStatus.UNKNOWN, says, texts)
    if waiting:
        names = ", ".join(each.key.selector for each in waiting)
        says = f"{names} is published but does not sign yet: run `mailqueue dkim verify {domain}`"
        return DomainFinding(DKIM, FindingStatus.WARN, says, texts)
    if not signing:
        says = f"no key signs for it: create one with `mailqueue dkim add {domain}`"
        return DomainFinding(DKIM, FindingStatus.FAIL, says, texts)
    tested = [each.key.selector for each in publications if any(map(is_test, each.records))]
    if tested:
        says = (
            f"{', '.join(tested)} is published in test mode (t=y): receivers treat its mail as"
            " unsigned; take t=y out of the record"
        )
        return DomainFinding(DKIM, FindingStatus.WARN, says, texts)
    return DomainFinding(
        DKIM,
        FindingStatus.PASS,
        f"signed by {', '.join(signing)}; the published records match",
        texts,
    )


def _fault(each: Publication, now: datetime) -> FindingStatus | None:
    is_past = each.key.needed_until is not None and each.key.needed_until <= now
    match each.in_dns:
        case RecordState.PUBLISHED:
            return FindingStatus.WARN if each.key.status is DkimKeyStatus.PENDING else None
        case RecordState.GONE:
            return None
        case RecordState.MISSING if is_past:
            return None
        case RecordState.UNKNOWN:
            return FindingStatus.UNKNOWN
        case RecordState.MISSING | RecordState.WRONG | RecordState.STILL_THERE:
            return FindingStatus.FAIL


def _plain(address: str) -> str:
    try:
        return str(ip_address(address.strip()))
    except ValueError:
        raise InvalidField("ip", f"{address[:100]!r} is not an IP address") from None
