"""DKIM keys, their records and the findings about a domain as callers see them."""

from mailqueue.contract.domains import DkimKeyDetails, DkimVerification, DomainReport
from mailqueue.dkim.record import strings, zone_line
from mailqueue.domains.findings import DomainFindings
from mailqueue.domains.model import DkimKey
from mailqueue.domains.publication import Publication


def key_of(row: DkimKey) -> DkimKeyDetails:
    """Return a key with its DNS record, without the private key."""
    return DkimKeyDetails(
        id=row.id,
        domain=row.domain,
        selector=row.selector,
        algorithm=row.algorithm.key_type,
        status=row.status,
        verified=row.seen_at is not None,
        dns_name=row.name,
        dns_type="TXT",
        dns_txt_record=row.text,
        dns_strings=strings(row.text),
        zone_line=zone_line(row.name, row.text),
        public_key=row.public_key,
        created_at=row.created_at,
        verified_at=row.seen_at,
        active_at=row.active_at,
        retired_at=row.retired_at,
        needed_until=row.needed_until,
        revoked_at=row.revoked_at,
        domain_records=row.records,
    )


def verification_of(publication: Publication) -> DkimVerification:
    """Return the record found for a key."""
    return DkimVerification(
        publication.in_dns, list(publication.records), publication.why, key_of(publication.key)
    )


def report_of(findings: DomainFindings) -> DomainReport:
    """Return the findings about a domain."""
    return DomainReport(findings.domain, findings.is_good, list(findings.findings))
