"""Responses of name servers, valid and invalid ones."""

from collections.abc import AsyncIterator

import pytest

from mailqueue.domains.resolver import MAX_TEXT, MailHost, Unresolved
from tests.domains.nameserver import Zone, serving

pytestmark = pytest.mark.anyio


@pytest.fixture
async def zone() -> AsyncIterator[Zone]:
    async with serving(Zone()) as served:
        yield served


async def test_the_strings_of_a_text_are_put_together(zone: Zone) -> None:
    zone.text("a.example.com", "x" * 300, "second")

    assert sorted(await zone.resolver().texts("a.example.com")) == ["second", "x" * 300]


async def test_bytes_that_no_column_holds_are_replaced(zone: Zone) -> None:
    zone.says("a.example.com", "TXT", r'"a\000b\255"')

    assert await zone.resolver().texts("a.example.com") == ["a\ufffdb\ufffd"]


async def test_no_record_and_no_name_are_both_an_empty_answer(zone: Zone) -> None:
    zone.says("a.example.com", "A", "192.0.2.1")

    assert await zone.resolver().texts("a.example.com") == []
    assert await zone.resolver().texts("b.example.com") == []


async def test_addresses_are_of_both_kinds(zone: Zone) -> None:
    zone.says("a.example.com", "A", "192.0.2.1").says("a.example.com", "AAAA", "2001:db8::1")

    assert await zone.resolver().addresses("a.example.com") == ["192.0.2.1", "2001:db8::1"]


async def test_mail_hosts_come_first_choice_first_and_a_null_one_has_no_name(zone: Zone) -> None:
    zone.says("example.com", "MX", "20 b.example.com.", "10 A.example.com.")
    zone.says("example.org", "MX", "0 .")

    resolver = zone.resolver()

    assert await resolver.mail_hosts("example.com") == [
        MailHost(10, "a.example.com"),
        MailHost(20, "b.example.com"),
    ]
    assert await resolver.mail_hosts("example.org") == [MailHost(0, "")]


async def test_an_address_says_which_names_it_has(zone: Zone) -> None:
    zone.says("1.2.0.192.in-addr.arpa", "PTR", "Mail.example.com.")

    assert await zone.resolver().names_of("192.0.2.1") == ["mail.example.com"]
    with pytest.raises(ValueError, match="not an IP address"):
        await zone.resolver().names_of("example.com")


async def test_an_answer_too_large_for_a_datagram_is_fetched_by_tcp(zone: Zone) -> None:
    zone.large.add("a.example.com")
    zone.text("a.example.com", "y" * 1500)

    assert await zone.resolver().texts("a.example.com") == ["y" * 1500]
    assert zone.by_tcp == 1


async def test_a_server_that_fails_is_no_answer(zone: Zone) -> None:
    zone.failing.add("a.example.com")

    with pytest.raises(Unresolved, match="SERVFAIL"):
        await zone.resolver().texts("a.example.com")


async def test_a_server_that_says_nothing_is_not_waited_for_long(zone: Zone) -> None:
    zone.silent.add("a.example.com")

    with pytest.raises(Unresolved, match="no name server answered in time"):
        await zone.resolver(answer_s=0.2).texts("a.example.com")


@pytest.mark.parametrize("name", ["a..example.com", "x" * 64 + ".example.com", "é" * 70])
async def test_what_is_no_name_is_not_asked_for(zone: Zone, name: str) -> None:
    with pytest.raises(Unresolved):
        await zone.resolver().texts(name)
    assert zone.asked == []


async def test_what_is_too_long_to_be_read_is_given_in_part(zone: Zone) -> None:
    zone.text("a.example.com", "x" * 30_000)

    assert [len(each) for each in await zone.resolver().texts("a.example.com")] == [MAX_TEXT]
