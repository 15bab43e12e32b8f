"""The DNS check of a domain, and its stored results."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from mailqueue.contract.domains import DkimKeyStatus, FindingStatus
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.dkim.keys import Algorithm
from mailqueue.domains import keys
from mailqueue.domains.checking import check, judged_keys
from mailqueue.domains.publication import Publication, RecordState
from mailqueue.tracking import domains
from mailqueue.vault.masterkey import MasterKey
from tests import make
from tests.domains.nameserver import Zone, serving
from tests.domains.test_publication import GOOD, KEY

MASTER = MasterKey(bytes(range(32)))
NOW = datetime(2026, 11, 20, tzinfo=UTC)
PAST, SOON = NOW - timedelta(days=1), NOW + timedelta(days=1)


def good_zone() -> Zone:
    zone = Zone()
    zone.text("example.com", "v=spf1 ip4:192.0.2.0/24 -all")
    zone.text("_dmarc.example.com", "v=DMARC1; p=reject; rua=mailto:d@example.com")
    zone.says("example.com", "MX", "10 mail.example.com.")
    zone.says("mail.example.com", "A", "192.0.2.1")
    return zone.says("1.2.0.192.in-addr.arpa", "PTR", "mail.example.com.")


@pytest.mark.anyio
async def test_a_domain_in_order_passes_in_everything_and_that_is_kept(conn: Conn) -> None:
    (key,) = await keys.create(
        conn, "default", domain="example.com", algorithms=[Algorithm.ED25519], master=MASTER, by="x"
    )
    await keys.activate(conn, [key], by="x", seen=True)
    async with serving(good_zone().text(key.name, key.text)) as zone:
        report = await check(
            conn, "default", domain="Example.com", resolver=zone.resolver(), address="192.0.2.1"
        )

    assert report.is_good
    assert [(each.topic, each.status) for each in report.findings] == [
        (topic, FindingStatus.PASS) for topic in ("SPF", "DKIM", "DMARC", "MX", "reverse name")
    ]
    ((domain, is_good, findings),) = await make.rows(
        conn, "SELECT domain, is_good, findings FROM mailqueue.domain_checks"
    )
    assert (domain, is_good, len(findings)) == ("example.com", True, 5)
    assert findings[0]["says"] == "mail from 192.0.2.1 passes; the record needs 0 of 10 DNS lookups"


@pytest.mark.anyio
async def test_a_domain_without_records_fails_and_the_records_to_publish_are_named(
    conn: Conn,
) -> None:
    async with serving(Zone()) as zone:
        report = await check(conn, "default", domain="example.com", resolver=zone.resolver())

    assert not report.is_good
    assert {each.topic: each.status for each in report.findings} == {
        "SPF": FindingStatus.FAIL,
        "DKIM": FindingStatus.FAIL,
        "DMARC": FindingStatus.FAIL,
        "MX": FindingStatus.FAIL,
    }
    assert [each.publish[0].type for each in report.findings if each.publish] == [
        "TXT",
        "TXT",
        "MX",
    ]
    assert await make.scalar(conn, "SELECT is_good FROM mailqueue.domain_checks") is False


@pytest.mark.anyio
async def test_a_check_without_an_answer_is_neither_failed_nor_good(conn: Conn) -> None:
    zone = Zone(silent={"example.com", "_dmarc.example.com"})
    async with serving(zone):
        report = await check(
            conn, "default", domain="example.com", resolver=zone.resolver(answer_s=0.3)
        )

    said = {each.topic: (each.status, each.says) for each in report.findings}
    assert said["SPF"] == (FindingStatus.UNKNOWN, "no name server answered in time")
    assert said["MX"][0] is FindingStatus.UNKNOWN
    assert not report.is_good


@pytest.mark.anyio
async def test_what_cannot_be_checked_is_refused(conn: Conn) -> None:
    resolver = Zone(port=1).resolver()
    with pytest.raises(InvalidField, match="domain"):
        await check(conn, "default", domain="x", resolver=resolver)
    with pytest.raises(InvalidField, match="ip: 'mail' is not an IP address"):
        await check(conn, "default", domain="example.com", resolver=resolver, address="mail")
    with pytest.raises(NotFound, match="project nowhere"):
        await check(conn, "nowhere", domain="example.com", resolver=resolver)


@pytest.mark.parametrize(
    ("status", "in_dns", "needed_until", "expected"),
    [
        (DkimKeyStatus.ACTIVE, RecordState.PUBLISHED, None, FindingStatus.PASS),
        (DkimKeyStatus.ACTIVE, RecordState.MISSING, None, FindingStatus.FAIL),
        (DkimKeyStatus.ACTIVE, RecordState.WRONG, None, FindingStatus.FAIL),
        (DkimKeyStatus.ACTIVE, RecordState.UNKNOWN, None, FindingStatus.UNKNOWN),
        (DkimKeyStatus.PENDING, RecordState.PUBLISHED, None, FindingStatus.WARN),
        (DkimKeyStatus.PENDING, RecordState.MISSING, None, FindingStatus.FAIL),
        (DkimKeyStatus.RETIRED, RecordState.MISSING, SOON, FindingStatus.FAIL),
        (
            DkimKeyStatus.RETIRED,
            RecordState.MISSING,
            PAST,
            FindingStatus.FAIL,
        ),  # and nothing signs any more
        (DkimKeyStatus.REVOKED, RecordState.STILL_THERE, None, FindingStatus.FAIL),
        (DkimKeyStatus.REVOKED, RecordState.GONE, None, FindingStatus.FAIL),
    ],
)
def test_one_key_is_judged_by_its_state_and_record(
    status: DkimKeyStatus,
    in_dns: RecordState,
    needed_until: datetime | None,
    expected: FindingStatus,
) -> None:
    key = replace(KEY, status=status, needed_until=needed_until)

    found = judged_keys("example.com", [Publication(key, in_dns, (), "why")], now=NOW)

    assert found.status is expected


def test_a_key_in_test_mode_does_not_count_for_receivers() -> None:
    key = replace(KEY, status=DkimKeyStatus.ACTIVE)
    published = Publication(key, RecordState.PUBLISHED, (f"{GOOD}; t=s:y",))

    found = judged_keys("example.com", [published], now=NOW)

    assert (found.status, "t=y" in found.says) == (FindingStatus.WARN, True)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("address", "status"), [("192.0.2.80", FindingStatus.PASS), ("192.0.2.81", FindingStatus.FAIL)]
)
async def test_the_tracking_domain_of_the_project_is_checked_with_its_domain(
    conn: Conn, address: str, status: FindingStatus
) -> None:
    await make.project(conn, "shop", tracking_domain="links.example.com")
    url = "https://mail.example.net"
    async with serving(good_zone()) as zone:
        zone.says("links.example.com", "A", address).says("mail.example.net", "A", "192.0.2.80")
        links, resolver = await domains.project_of(conn, "shop"), zone.resolver()
        also = domains.findings_about("example.com", links, public_url=url, resolver=resolver)
        elsewhere = domains.findings_about("example.org", links, public_url=url, resolver=resolver)
        report = await check(conn, "shop", domain="example.com", resolver=resolver, also=also)

    assert elsewhere == []
    assert (report.findings[-1].topic, report.findings[-1].status) == ("tracked links", status)
    publish = [f"{one.name} {one.type} {one.value}" for one in report.findings[-1].publish]
    is_wrong = status is FindingStatus.FAIL
    assert publish == ["links.example.com CNAME mail.example.net."] * is_wrong


def test_old_keys_that_are_gone_do_not_matter_while_another_signs() -> None:
    active = Publication(replace(KEY, status=DkimKeyStatus.ACTIVE), RecordState.PUBLISHED, (GOOD,))
    retired = replace(KEY, selector="b", status=DkimKeyStatus.RETIRED, needed_until=PAST)
    revoked = replace(KEY, selector="c", status=DkimKeyStatus.REVOKED)
    gone = [Publication(retired, RecordState.MISSING), Publication(revoked, RecordState.GONE)]

    found = judged_keys("example.com", [active, *gone], now=NOW)

    assert (found.status, found.says) == (
        FindingStatus.PASS,
        "signed by a; the published records match",
    )


def test_a_key_whose_record_is_wrong_is_told_which_one_it_should_be() -> None:
    key = replace(KEY, status=DkimKeyStatus.ACTIVE)

    found = judged_keys(
        "example.com",
        [Publication(key, RecordState.WRONG, ("x",), "the record has another key")],
        now=NOW,
    )

    assert found.says == "a: the record has another key"
    assert found.found == ("a._domainkey.example.com: x",)
    assert [(each.name, each.value) for each in found.publish] == [(key.name, GOOD)]
