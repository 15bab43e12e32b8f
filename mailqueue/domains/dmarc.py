"""Checks a domain's DMARC policy (RFC 7489)."""

from dataclasses import replace
from functools import cache

from publicsuffixlist import PublicSuffixList

from mailqueue.contract.domains import DnsRecord, DomainFinding, FindingStatus
from mailqueue.dkim.record import MAX_RECORD_CHARACTERS, read_tags
from mailqueue.domains.resolver import Resolver, Unresolved

TOPIC = "DMARC"
MAX_REPORT_DOMAINS = 5
"""Other domains that receive reports whose records are looked up."""
_POLICIES = ("none", "quarantine", "reject")
_ALIGNMENTS = {"r": "relaxed", "s": "strict"}


async def check_dmarc(domain: str, resolver: Resolver) -> DomainFinding:
    """Check the policy of a domain, or that of its organizational domain."""
    above = organisational_domain(domain)
    at = domain
    try:
        records = await _records(domain, resolver)
        if not records and above not in (None, domain):
            at = str(above)
            records = await _records(at, resolver)
    except Unresolved as exc:
        return DomainFinding(TOPIC, FindingStatus.UNKNOWN, exc.why)
    finding = judged(domain, at, tuple(records))
    if finding.status is not FindingStatus.PASS:
        return finding
    return await _with_report_addresses(finding, at, resolver)


async def _with_report_addresses(
    finding: DomainFinding, at: str, resolver: Resolver
) -> DomainFinding:
    """Return the finding, or a warning where another domain has not agreed to receive reports.

    Such a domain publishes a record of its own (RFC 7489 7.1); else receivers send it no reports.
    """
    tags = read_tags(finding.found[0]) or {}
    domains = {
        address.partition("!")[0].rpartition("@")[2].lower()
        for address in tags.get("rua", "").replace(" ", "").split(",")
    }
    own = organisational_domain(at)
    others = sorted(each for each in domains if each and organisational_domain(each) != own)
    missing = []
    for domain in others[:MAX_REPORT_DOMAINS]:
        name = f"{at}._report._dmarc.{domain}"
        try:
            if not any(map(_is_dmarc, await resolver.texts(name))):
                missing.append(DnsRecord(name, "TXT", "v=DMARC1"))
        except Unresolved as exc:
            return replace(finding, status=FindingStatus.UNKNOWN, says=str(exc))
    if not missing:
        return finding
    names = ", ".join(record.name.partition("._report._dmarc.")[2] for record in missing)
    says = f"{finding.says}; {names} has no record that accepts reports about {at}: none are sent"
    return replace(finding, status=FindingStatus.WARN, says=says, publish=tuple(missing))


def judged(domain: str, at: str, records: tuple[str, ...]) -> DomainFinding:
    """Return the finding for the records of a domain or of its organizational domain. Pure."""
    text = f"v=DMARC1; p=none; rua=mailto:dmarc@{domain}"
    wanted = (DnsRecord(f"_dmarc.{domain}", "TXT", text),)
    if not records:
        return DomainFinding(TOPIC, FindingStatus.FAIL, "there is no DMARC record", (), wanted)
    if len(records) > 1:
        says = f"there are {len(records)} DMARC records: receivers ignore all of them; keep one"
        return DomainFinding(TOPIC, FindingStatus.FAIL, says, records)
    if len(records[0]) > MAX_RECORD_CHARACTERS:
        says = f"the record is longer than {MAX_RECORD_CHARACTERS} characters"
        return DomainFinding(TOPIC, FindingStatus.FAIL, says, records, wanted)
    tags = read_tags(records[0])
    if tags is None:
        return DomainFinding(
            TOPIC, FindingStatus.FAIL, "the record is not a list of tags", records, wanted
        )
    policy = tags.get("p", "").lower()
    applied = tags.get("sp", policy).lower() if at != domain else policy
    if policy not in _POLICIES or applied not in _POLICIES:
        if "rua" not in tags:
            says = "the policy p= must be none, quarantine or reject"
            return DomainFinding(TOPIC, FindingStatus.FAIL, says, records, wanted)
        says = "the policy p= is not none, quarantine or reject: receivers treat it as p=none"
        return DomainFinding(TOPIC, FindingStatus.WARN, says, records)
    return DomainFinding(
        TOPIC, *_assessed(tags, applied, at=None if at == domain else at), found=records
    )


def _assessed(tags: dict[str, str], policy: str, *, at: str | None) -> tuple[FindingStatus, str]:
    where = "" if at is None else f" from {at}"
    alignment = {name: tags.get(name, "r").lower() for name in ("adkim", "aspf")}
    wrong = [f"{name}={value}" for name, value in alignment.items() if value not in _ALIGNMENTS]
    if wrong:
        return FindingStatus.WARN, f"{', '.join(wrong)} must be r or s: receivers treat it as r"
    words = f"policy {policy}{where}, DKIM {_ALIGNMENTS[alignment['adkim']]}"
    words += f", SPF {_ALIGNMENTS[alignment['aspf']]}"
    if tags.get("pct", "100") != "100":
        words += f", for {tags['pct']} % of mail"
    if "rua" not in tags:
        return (
            FindingStatus.WARN,
            f"{words}; no reports are sent: add an address with rua=mailto:…",
        )
    return FindingStatus.PASS, words


def organisational_domain(domain: str) -> str | None:
    """Return the organizational domain (RFC 7489 3.2), or None for a public suffix."""
    found: str | None = _suffixes().privatesuffix(domain)
    return found


@cache  # read once per process, and only by checks
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()


async def _records(domain: str, resolver: Resolver) -> list[str]:
    found = await resolver.texts(f"_dmarc.{domain}")
    return [text for text in found if _is_dmarc(text)]


def _is_dmarc(text: str) -> bool:
    return text.partition(";")[0].replace(" ", "") == "v=DMARC1"
