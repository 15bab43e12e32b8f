"""Checks a domain's SPF record (RFC 7208)."""

from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TypeVar

from mailqueue.contract.domains import DnsRecord, DomainFinding, FindingStatus
from mailqueue.domains.resolver import Resolver, Unresolved
from mailqueue.domains.spf.evaluate import (
    MAX_HOSTS,
    MAX_LOOKUPS,
    MAX_VOID,
    check_host,
    is_host_name,
)
from mailqueue.domains.spf.record import LOOKUP_TERMS, SpfError, Term, is_spf, read_terms

TOPIC = "SPF"
_MAX_FOLLOWED = 40  # lookups after which the check stops: there are too many in any case

T = TypeVar("T")


@dataclass
class SpfCost:
    """What receivers may have to look up for a record: all of its terms and includes."""

    resolver: Resolver
    lookups: int = 0
    void: int = 0
    under_way: list[str] = field(default_factory=list)

    async def count(self, domain: str, text: str) -> None:
        """Look up what every term of a record names, and count.

        Raises:
            SpfError: receivers cannot evaluate the record.
            Unresolved: a lookup failed.
        """
        if domain in self.under_way:
            raise SpfError(f"the record of {domain} includes itself")
        self.under_way.append(domain)
        terms = read_terms(text)
        has_all = any(term.kind == "all" for term in terms)
        for term in terms:
            if term.kind == "redirect" and has_all:
                continue  # RFC 7208 6.1
            self._count(term)
            await self._look_up(term, domain)
        self.under_way.pop()

    def _count(self, term: Term) -> None:
        self.lookups += term.kind in LOOKUP_TERMS
        if self.lookups > _MAX_FOLLOWED:
            raise SpfError(
                f"the record needs more than {_MAX_FOLLOWED} DNS lookups; {MAX_LOOKUPS} are allowed"
            )

    async def _look_up(self, term: Term, domain: str) -> None:
        name = term.domain or domain
        if "%" in name or not is_host_name(name):  # a macro, expanded from each mail's sender
            return
        match term.kind:
            case "a":
                self._answered(await self.resolver.addresses(name))
            case "exists":
                self._answered(await self.resolver.addresses(name, version=4))
            case "mx":
                hosts = self._answered(await self.resolver.mail_hosts(name))
                if len(hosts) > MAX_HOSTS:
                    raise SpfError(
                        f"mx names {name}, which has {len(hosts)} mail hosts, above {MAX_HOSTS}"
                    )
            case "include" | "redirect":
                texts = self._answered(await self.resolver.texts(name))
                records = [text for text in texts if is_spf(text)]
                if len(records) != 1:
                    raise SpfError(
                        f"{term.kind} names {name}, which has {len(records) or 'no'} SPF records"
                    )
                await self.count(name, records[0])

    def _answered(self, records: list[T]) -> list[T]:
        self.void += not records
        return records


async def check_spf(domain: str, resolver: Resolver, *, address: str | None) -> DomainFinding:
    """Check the SPF record of a domain; with an address, its result for mail from there."""
    try:
        records = [text for text in await resolver.texts(domain) if is_spf(text)]
    except Unresolved as exc:
        return DomainFinding(TOPIC, FindingStatus.UNKNOWN, exc.why)
    found = tuple(records)
    wanted = (DnsRecord(domain, "TXT", _suggested(address)),)
    if not records:
        return DomainFinding(TOPIC, FindingStatus.FAIL, "there is no SPF record", (), wanted)
    if len(records) > 1:
        says = f"there are {len(records)} SPF records: receivers ignore all; merge them into one"
        return DomainFinding(TOPIC, FindingStatus.FAIL, says, found)
    cost, result = SpfCost(resolver), None
    try:
        await cost.count(domain, records[0])
        if address is not None:
            sender = f"postmaster@{domain}"
            result = await check_host(resolver, address=address, sender=sender, helo=domain)
    except SpfError as exc:
        return DomainFinding(TOPIC, FindingStatus.FAIL, str(exc), found)
    except Unresolved as exc:
        return DomainFinding(TOPIC, FindingStatus.UNKNOWN, f"{exc}", found)
    status, says = judged(cost, read_terms(records[0]), result, address)
    return DomainFinding(TOPIC, status, says, found)


def judged(
    walk: SpfCost, terms: list[Term], result: str | None, address: str | None
) -> tuple[FindingStatus, str]:
    """Return the status and text for a record; `result` is that of mail from `address`. Pure."""
    cost = f"{walk.lookups} of {MAX_LOOKUPS} DNS lookups"
    ends = {term.kind: term.qualifier for term in terms if term.kind in ("all", "redirect")}
    if walk.lookups > MAX_LOOKUPS:
        return (
            FindingStatus.FAIL,
            f"the record needs {cost}: replace some terms by networks (ip4:, ip6:)",
        )
    if walk.void > MAX_VOID:
        return (
            FindingStatus.FAIL,
            f"{walk.void} of its lookups have no result, and {MAX_VOID} are allowed",
        )
    if ends.get("all") == "+":
        return (
            FindingStatus.FAIL,
            "the record ends in +all: every server may send as this domain; use ~all",
        )
    if result == "temperror":
        return FindingStatus.UNKNOWN, f"the result for mail from {address} could not be looked up"
    if result not in (None, "pass"):
        return FindingStatus.FAIL, f"mail from {address} gets {result!r}, not 'pass'"
    if not ends:
        return (
            FindingStatus.WARN,
            f"the record has no term for all other servers: add ~all ({cost})",
        )
    if ends.get("all") == "?":
        return (
            FindingStatus.WARN,
            f"the record ends in ?all, which neither allows nor forbids other servers ({cost})",
        )
    if any(term.kind == "ptr" for term in terms):
        return FindingStatus.WARN, f"the record uses ptr, which receivers may ignore ({cost})"
    passes = "" if address is None else f"mail from {address} passes; "
    return FindingStatus.PASS, f"{passes}the record needs {cost}"


def _suggested(address: str | None) -> str:
    if address is None:
        return "v=spf1 mx ~all"
    return f"v=spf1 ip{ip_address(address).version}:{address} ~all"
