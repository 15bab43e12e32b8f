"""Checks a domain's SPF record (RFC 7208)."""

from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import TypeVar

from mailqueue.contract.domains import DnsRecord, DomainFinding, FindingStatus
from mailqueue.core.outbound_guard import IpAddress
from mailqueue.deliverability.resolver import Resolver, Unresolved
from mailqueue.deliverability.spf.record import LOOKUP_TERMS, SpfError, Term, is_spf, read_terms

TOPIC = "SPF"
MAX_LOOKUPS = 10  # RFC 7208 4.6.4
MAX_VOID = 2  # lookups without a result
MAX_HOSTS = 10  # of one mx mechanism
_MAX_FOLLOWED = 40  # lookups after which the check stops: there are too many in any case
_RESULTS = {"+": "pass", "-": "fail", "~": "softfail", "?": "neutral"}

T = TypeVar("T")


@dataclass
class SpfEvaluation:
    """The evaluation of a record and its includes for one address, with its cost in lookups."""

    resolver: Resolver
    address: IpAddress | None
    lookups: int = 0
    void: int = 0
    has_macros: bool = False
    under_way: list[str] = field(default_factory=list)

    async def result(self, domain: str, text: str) -> str:
        """Evaluate every term of a record; return its result for the address, else "neutral".

        Raises:
            SpfError: receivers cannot evaluate the record.
            Unresolved: a lookup failed.
        """
        if domain in self.under_way:
            raise SpfError(f"the record of {domain} includes itself")
        self.under_way.append(domain)
        result = None
        terms = read_terms(text)
        has_all = any(term.kind == "all" for term in terms)
        for term in terms:
            if term.kind == "redirect" and has_all:
                continue  # RFC 7208 6.1
            self._count(term)
            matched = await self._matches(term, domain)
            if result is None and matched is not None:
                result = matched
        self.under_way.pop()
        return result or "neutral"

    def _count(self, term: Term) -> None:
        self.lookups += term.kind in LOOKUP_TERMS
        if self.lookups > _MAX_FOLLOWED:
            raise SpfError(
                f"the record needs more than {_MAX_FOLLOWED} DNS lookups; {MAX_LOOKUPS} are allowed"
            )

    async def _matches(self, term: Term, domain: str) -> str | None:
        """Return the result of a term for the address, or None if it does not match."""
        name = term.domain or domain
        if "%" in name:  # a macro, expanded from each message's sender
            self.has_macros = True
            return None
        match term.kind:
            case "all":
                is_match = True
            case "ip4" | "ip6":
                is_match = term.network is not None and self._is_in([str(term.network)], 32, 128)
            case "a":
                found = self._answered(await self.resolver.addresses(name))
                is_match = self._is_in(found, term.prefix4, term.prefix6)
            case "mx":
                is_match = await self._is_mail_host(name, term)
            case "exists":
                is_match = bool(self._answered(await self.resolver.addresses(name)))
            case "include" | "redirect":
                result = await self._other(term.kind, name)
                if term.kind == "redirect":
                    return result
                is_match = result == "pass"
            case _:  # ptr: RFC 7208 5.5 advises against it
                is_match = False
        return _RESULTS[term.qualifier] if is_match and self.address is not None else None

    async def _other(self, kind: str, name: str) -> str:
        records = [text for text in self._answered(await self.resolver.texts(name)) if is_spf(text)]
        if len(records) != 1:
            raise SpfError(f"{kind} names {name}, which has {len(records) or 'no'} SPF records")
        return await self.result(name, records[0])

    async def _is_mail_host(self, name: str, term: Term) -> bool:
        hosts = self._answered(await self.resolver.mail_hosts(name))
        if len(hosts) > MAX_HOSTS:
            raise SpfError(f"mx names {name}, which has {len(hosts)} mail hosts, above {MAX_HOSTS}")
        if self.address is None:
            return False
        found = [
            each for host in hosts if host.host for each in await self.resolver.addresses(host.host)
        ]
        return self._is_in(found, term.prefix4, term.prefix6)

    def _answered(self, records: list[T]) -> list[T]:
        self.void += not records
        return records

    def _is_in(self, networks: list[str], prefix4: int, prefix6: int) -> bool:
        if self.address is None:
            return False
        own = prefix4 if self.address.version == 4 else prefix6
        for each in networks:
            network = ip_network(each if "/" in each else f"{each}/{own}", strict=False)
            if network.version == self.address.version and self.address in network:
                return True
        return False


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
    walk = SpfEvaluation(resolver, None if address is None else ip_address(address))
    try:
        result = await walk.result(domain, records[0])
    except SpfError as exc:
        return DomainFinding(TOPIC, FindingStatus.FAIL, str(exc), found)
    except Unresolved as exc:
        return DomainFinding(TOPIC, FindingStatus.UNKNOWN, f"{exc}", found)
    status, says = judged(walk, read_terms(records[0]), result)
    return DomainFinding(TOPIC, status, says, found)


def judged(walk: SpfEvaluation, terms: list[Term], result: str) -> tuple[FindingStatus, str]:
    """Return the status and text for an evaluated record. Pure."""
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
    if walk.address is not None and result != "pass":
        unsure = ", without its macros" if walk.has_macros else ""
        return FindingStatus.FAIL, f"mail from {walk.address} gets {result!r}, not 'pass'{unsure}"
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
    passes = "" if walk.address is None else f"mail from {walk.address} passes; "
    return FindingStatus.PASS, f"{passes}the record needs {cost}"


def _suggested(address: str | None) -> str:
    if address is None:
        return "v=spf1 mx ~all"
    return f"v=spf1 ip{ip_address(address).version}:{address} ~all"
