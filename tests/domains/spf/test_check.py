"""The evaluation of SPF records and their includes, and its limits."""

from collections.abc import AsyncIterator

import pytest

from mailqueue.contract.domains import DomainFinding, FindingStatus
from mailqueue.domains.spf.check import check_spf
from tests.domains.nameserver import Zone, serving

pytestmark = pytest.mark.anyio
DOMAIN = "example.com"


@pytest.fixture
async def zone() -> AsyncIterator[Zone]:
    async with serving(Zone()) as served:
        yield served


async def spf(zone: Zone, text: str | None = None, *, address: str | None = None) -> DomainFinding:
    if text is not None:
        zone.text(DOMAIN, text)
    return await check_spf(DOMAIN, zone.resolver(), address=address)


async def test_a_record_that_can_be_used_passes_and_says_what_it_costs(zone: Zone) -> None:
    zone.text("_spf.example.net", "v=spf1 ip4:192.0.2.0/24 -all")

    found = await spf(zone, "v=spf1 ip4:198.51.100.1 include:_spf.example.net ~all")

    assert (found.status, found.says) == (
        FindingStatus.PASS,
        "the record needs 1 of 10 DNS lookups",
    )
    assert found.found == ("v=spf1 ip4:198.51.100.1 include:_spf.example.net ~all",)


async def test_no_record_fails_and_one_is_suggested(zone: Zone) -> None:
    zone.text(DOMAIN, "google-site-verification=x")

    found = await spf(zone)
    from_there = await spf(zone, address="2001:db8::1")

    assert (found.status, found.publish[0].value) == (FindingStatus.FAIL, "v=spf1 mx ~all")
    assert from_there.publish[0].value == "v=spf1 ip6:2001:db8::1 ~all"


async def test_two_records_are_as_good_as_none(zone: Zone) -> None:
    zone.text(DOMAIN, "v=spf1 mx -all", "v=spf1 a -all", "other")

    found = await spf(zone)

    assert found.status is FindingStatus.FAIL
    assert "there are 2 SPF records" in found.says


@pytest.mark.parametrize(("count", "status"), [(10, FindingStatus.PASS), (11, FindingStatus.FAIL)])
async def test_ten_lookups_are_allowed_those_of_includes_among_them(
    zone: Zone, count: int, status: FindingStatus
) -> None:
    zone.says("h.example.net", "A", "192.0.2.1")
    inner = " ".join(["a:h.example.net"] * (count - 2))
    zone.text("_spf.example.net", f"v=spf1 {inner} -all")

    found = await spf(zone, "v=spf1 include:_spf.example.net a:h.example.net -all")

    assert found.status is status
    assert f"{count} of 10 DNS lookups" in found.says


async def test_lookups_that_find_nothing_are_allowed_twice(zone: Zone) -> None:
    assert (await spf(zone, "v=spf1 a:x.example mx:y.example -all")).status is FindingStatus.PASS

    found = await spf(zone, "v=spf1 a:x.example mx:y.example exists:z.example -all")

    assert found.status is FindingStatus.FAIL
    assert "3 of its lookups have no result" in found.says


async def test_a_record_that_includes_itself_is_found_and_followed_once(zone: Zone) -> None:
    zone.text("a.example.net", "v=spf1 include:b.example.net -all")
    zone.text("b.example.net", "v=spf1 include:a.example.net -all")

    found = await spf(zone, "v=spf1 include:a.example.net -all")

    assert found.status is FindingStatus.FAIL
    assert found.says == "the record of a.example.net includes itself"
    assert len(zone.asked) == 4


async def test_a_tree_of_includes_is_not_followed_for_ever(zone: Zone) -> None:
    for depth in range(12):
        name, below = f"n{depth}.example.net", f"n{depth + 1}.example.net"
        zone.text(name, f"v=spf1 include:{below} include:{below} -all")
    zone.text("n12.example.net", "v=spf1 -all")

    found = await spf(zone, "v=spf1 include:n0.example.net -all")

    assert found.status is FindingStatus.FAIL
    assert "more than 40 DNS lookups" in found.says
    assert len(zone.asked) < 50


@pytest.mark.parametrize(
    ("text", "status", "says"),
    [
        ("v=spf1 +all", FindingStatus.FAIL, "+all"),
        ("v=spf1 all", FindingStatus.FAIL, "+all"),
        ("v=spf1 mx", FindingStatus.WARN, "add ~all"),
        ("v=spf1 mx ?all", FindingStatus.WARN, "?all"),
        ("v=spf1 ptr -all", FindingStatus.WARN, "ptr"),
        ("v=spf1 foo -all", FindingStatus.FAIL, "'foo' is not an SPF term"),
        ("v=spf1 include:nothing.example -all", FindingStatus.FAIL, "has no SPF records"),
        ("v=spf1 redirect=nothing.example", FindingStatus.FAIL, "redirect names nothing.example"),
        ("v=spf1 redirect=nothing.example -all", FindingStatus.PASS, "0 of 10"),
    ],
)
async def test_what_is_wrong_is_said(
    zone: Zone, text: str, status: FindingStatus, says: str
) -> None:
    zone.says(DOMAIN, "MX", "10 mx.example.com.").says("mx.example.com", "A", "192.0.2.9")

    found = await spf(zone, text)

    assert found.status is status
    assert says in found.says


@pytest.mark.parametrize(
    ("text", "address", "passes"),
    [
        ("v=spf1 ip4:192.0.2.0/24 -all", "192.0.2.7", True),
        ("v=spf1 ip4:192.0.2.0/24 -all", "192.0.3.7", False),
        ("v=spf1 -ip4:192.0.2.7 ip4:192.0.2.0/24 -all", "192.0.2.7", False),
        ("v=spf1 ip6:2001:db8::/32 -all", "2001:db8::7", True),
        ("v=spf1 ip4:192.0.2.0/24 -all", "2001:db8::7", False),
        ("v=spf1 a:h.example.net/24 -all", "192.0.2.200", True),
        ("v=spf1 a:h.example.net -all", "192.0.2.200", False),
        ("v=spf1 mx -all", "192.0.2.9", True),
        ("v=spf1 include:good.example.net -all", "203.0.113.5", True),
        ("v=spf1 include:soft.example.net -all", "203.0.113.5", False),
        ("v=spf1 redirect=good.example.net", "203.0.113.5", True),
        ("v=spf1 exists:h.example.net -all", "198.51.100.1", True),
        ("v=spf1 exists:%{i}.example.net -all", "198.51.100.1", False),
    ],
)
async def test_mail_from_an_address_passes_where_the_record_names_it(
    zone: Zone, text: str, address: str, passes: bool
) -> None:
    zone.says("h.example.net", "A", "192.0.2.1")
    zone.says(DOMAIN, "MX", "10 mx.example.com.").says("mx.example.com", "A", "192.0.2.9")
    zone.text("good.example.net", "v=spf1 ip4:203.0.113.0/24 -all")
    zone.text("soft.example.net", "v=spf1 ~ip4:203.0.113.0/24 -all")

    found = await spf(zone, text, address=address)

    assert (found.status is FindingStatus.PASS) == passes
    assert address in found.says


@pytest.mark.parametrize("name", [DOMAIN, "_spf.example.net"])
async def test_a_server_that_fails_leaves_it_open(zone: Zone, name: str) -> None:
    zone.failing.add(name)

    found = await spf(zone, "v=spf1 include:_spf.example.net -all")

    assert found.status is FindingStatus.UNKNOWN
    assert "SERVFAIL" in found.says


async def test_more_than_ten_mail_hosts_of_one_mx_are_too_many(zone: Zone) -> None:
    zone.says(DOMAIN, "MX", *(f"10 mx{n}.example.com." for n in range(11)))

    found = await spf(zone, "v=spf1 mx -all")

    assert found.status is FindingStatus.FAIL
    assert "11 mail hosts" in found.says
