"""Whether a domain's mail has a host, and whether a sending host has a name."""

from collections.abc import AsyncIterator

import pytest

from mailqueue.contract.domains import FindingStatus
from mailqueue.domains.hosts import check_mail_hosts, check_reverse_name
from tests.domains.nameserver import Zone, serving

pytestmark = pytest.mark.anyio
PTR = "1.2.0.192.in-addr.arpa"


@pytest.fixture
async def zone() -> AsyncIterator[Zone]:
    async with serving(Zone()) as served:
        yield served


async def test_a_domain_with_a_mail_host_passes(zone: Zone) -> None:
    zone.says("example.com", "MX", "20 b.example.com.", "10 a.example.com.")
    zone.says("a.example.com", "A", "192.0.2.1").says("b.example.com", "AAAA", "2001:db8::1")

    found = await check_mail_hosts("example.com", zone.resolver())

    assert (found.status, found.says) == (FindingStatus.PASS, "mail is accepted by a.example.com")
    assert found.found == ("10 a.example.com", "20 b.example.com")


async def test_a_mail_host_without_an_address_is_named(zone: Zone) -> None:
    zone.says("example.com", "MX", "10 a.example.com.", "20 b.example.com.")
    none = await check_mail_hosts("example.com", zone.resolver())
    zone.says("a.example.com", "A", "192.0.2.1")
    some = await check_mail_hosts("example.com", zone.resolver())

    assert (none.status, none.says) == (
        FindingStatus.FAIL,
        "a.example.com, b.example.com has no address",
    )
    assert (some.status, some.says) == (FindingStatus.WARN, "b.example.com has no address")


async def test_a_domain_without_mail_hosts_takes_mail_only_at_its_own_address(zone: Zone) -> None:
    none = await check_mail_hosts("example.com", zone.resolver())
    zone.says("example.com", "A", "192.0.2.1")
    own = await check_mail_hosts("example.com", zone.resolver())

    assert (none.status, own.status) == (FindingStatus.FAIL, FindingStatus.WARN)
    assert none.publish[0].type == "MX"


async def test_a_domain_that_takes_no_mail_should_send_none(zone: Zone) -> None:
    zone.says("example.com", "MX", "0 .")

    found = await check_mail_hosts("example.com", zone.resolver())

    assert found.status is FindingStatus.FAIL
    assert "accepts no mail" in found.says


async def test_a_name_that_leads_back_passes(zone: Zone) -> None:
    zone.says(PTR, "PTR", "other.example.com.", "mail.example.com.")
    zone.says("mail.example.com", "A", "192.0.2.1")

    found = await check_reverse_name("192.0.2.1", zone.resolver())

    assert (found.status, found.says) == (
        FindingStatus.PASS,
        "192.0.2.1 has the name mail.example.com, which resolves back to it",
    )


async def test_no_name_and_one_that_leads_elsewhere_fail(zone: Zone) -> None:
    none = await check_reverse_name("192.0.2.1", zone.resolver())
    zone.says(PTR, "PTR", "mail.example.com.").says("mail.example.com", "A", "192.0.2.2")
    astray = await check_reverse_name("192.0.2.1", zone.resolver())

    assert (none.status, astray.status) == (FindingStatus.FAIL, FindingStatus.FAIL)
    assert "ask the network's owner" in none.says
    assert [(each.name, each.type, each.value) for each in astray.publish] == [
        ("mail.example.com", "A", "192.0.2.1")
    ]


async def test_a_server_that_fails_leaves_it_open(zone: Zone) -> None:
    zone.failing |= {"example.com", PTR}

    assert (await check_mail_hosts("example.com", zone.resolver())).status is FindingStatus.UNKNOWN
    assert (await check_reverse_name("192.0.2.1", zone.resolver())).status is FindingStatus.UNKNOWN
