"""The DMARC record that applies to a domain, and its evaluation."""

from collections.abc import AsyncIterator

import pytest

from mailqueue.contract.domains import FindingStatus
from mailqueue.domains.dmarc import check_dmarc, judged, organisational_domain
from tests.domains.nameserver import Zone, serving

RUA = "rua=mailto:d@example.com"


@pytest.fixture
async def zone() -> AsyncIterator[Zone]:
    async with serving(Zone()) as served:
        yield served


@pytest.mark.parametrize(
    ("text", "status", "says"),
    [
        (f"v=DMARC1; p=none; {RUA}", FindingStatus.PASS, "policy none, DKIM relaxed, SPF relaxed"),
        (f"v=DMARC1;p=reject;adkim=s;aspf=r;{RUA}", FindingStatus.PASS, "reject, DKIM strict"),
        (f"v=DMARC1; p=quarantine; pct=20; {RUA}", FindingStatus.PASS, "for 20 % of mail"),
        ("v=DMARC1; p=reject", FindingStatus.WARN, "no reports are sent"),
        (f"v=DMARC1; p=maybe; {RUA}", FindingStatus.WARN, "treat it as p=none"),
        ("v=DMARC1; p=maybe", FindingStatus.FAIL, "p= must be"),
        ("v=DMARC1", FindingStatus.FAIL, "p= must be"),
        (f"v=DMARC1; p=none; p=none; {RUA}", FindingStatus.FAIL, "not a list of tags"),
        (f"v=DMARC1; p=none; adkim=x; {RUA}", FindingStatus.WARN, "adkim=x"),
        (f"v=DMARC1; p=none; unknown=1; {RUA}; ", FindingStatus.PASS, "policy none"),
    ],
)
def test_a_record_is_judged_by_its_tags(text: str, status: FindingStatus, says: str) -> None:
    found = judged("example.com", "example.com", (text,))

    assert found.status is status
    assert says in found.says


def test_below_the_domain_of_the_record_its_subdomain_policy_holds() -> None:
    found = judged("news.example.com", "example.com", (f"v=DMARC1; p=reject; sp=none; {RUA}",))

    assert found.says.startswith("policy none from example.com")


def test_two_records_are_as_good_as_none() -> None:
    found = judged("example.com", "example.com", (f"v=DMARC1; p=none; {RUA}",) * 2)

    assert found.status is FindingStatus.FAIL
    assert "there are 2 DMARC records" in found.says


@pytest.mark.parametrize(
    ("domain", "registered"),
    [
        ("example.com", "example.com"),
        ("a.b.example.com", "example.com"),
        ("a.example.co.uk", "example.co.uk"),
        ("co.uk", None),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
    ],
)
def test_the_organisation_is_who_registered_the_domain(domain: str, registered: str | None) -> None:
    assert organisational_domain(domain) == registered


@pytest.mark.anyio
async def test_the_domains_own_record_goes_before_that_of_the_organisation(zone: Zone) -> None:
    zone.text("_dmarc.example.co.uk", f"v=DMARC1; p=reject; {RUA}", "v=spf1 -all")

    above = await check_dmarc("a.b.example.co.uk", zone.resolver())
    zone.text("_dmarc.a.b.example.co.uk", f"v=DMARC1; p=none; {RUA}")
    own = await check_dmarc("a.b.example.co.uk", zone.resolver())

    assert above.says.startswith("policy reject from example.co.uk,")
    assert own.says.startswith("policy none,")
    assert ("_dmarc.b.example.co.uk", "TXT") not in zone.asked


@pytest.mark.anyio
async def test_no_record_fails_and_one_is_suggested(zone: Zone) -> None:
    found = await check_dmarc("example.com", zone.resolver())

    assert found.status is FindingStatus.FAIL
    (wanted,) = found.publish
    assert (wanted.name, wanted.value) == (
        "_dmarc.example.com",
        "v=DMARC1; p=none; rua=mailto:dmarc@example.com",
    )


@pytest.mark.anyio
async def test_a_server_that_fails_leaves_it_open(zone: Zone) -> None:
    zone.failing.add("_dmarc.example.com")

    assert (await check_dmarc("example.com", zone.resolver())).status is FindingStatus.UNKNOWN


def test_a_record_that_is_too_long_is_said_to_be() -> None:
    found = judged("example.com", "example.com", ("v=DMARC1; p=none" + " " * 9000,))

    assert (found.status, found.says) == (
        FindingStatus.FAIL,
        "the record is longer than 8192 characters",
    )


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("record", "status"), [(None, FindingStatus.WARN), ("v=DMARC1", FindingStatus.PASS)]
)
async def test_another_domain_has_to_agree_to_receive_reports(
    zone: Zone, record: str | None, status: FindingStatus
) -> None:
    zone.text(
        "_dmarc.example.com",
        "v=DMARC1; p=none; rua=mailto:d@reports.example.com, mailto:d@example.net!10m",
    )
    if record is not None:
        zone.text("example.com._report._dmarc.example.net", record)

    found = await check_dmarc("example.com", zone.resolver())

    assert found.status is status
    asked = [(each.name, each.value) for each in found.publish]
    wanted = [("example.com._report._dmarc.example.net", "v=DMARC1")]
    assert asked == ([] if record else wanted)
