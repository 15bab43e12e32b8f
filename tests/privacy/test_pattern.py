"""Texts that contain a person's address, and texts that only look like it."""

import re
from collections.abc import Iterator

import pytest

from mailqueue.core.address import parse_address
from mailqueue.core.mailboxes import ERASED_ADDRESS
from mailqueue.db.fetch import Conn
from mailqueue.privacy import pattern
from mailqueue.privacy.pattern import matcher_of, pattern_of
from tests import make

pytestmark = pytest.mark.anyio

NAMED = (
    "ann@example.com",
    "Ann Smith <ANN@Example.COM>",
    "mailto:ann@example.com?subject=x",
    "https://x.example/?to%3Dann%40example.com&y=1",
    "to=ann=40example.com",
    "bounce+12=ann=example.com@bounces.example.org",
    r"{\"a\": \"x\nann@example.com\"}",
    r"ann\u0040example.com",
    "&lt;ann&#64;example.com&gt;",
    "(ann@example.com).",
    "ann@example.com. And so on",
    "é ann@example.com",
)
ANOTHERS = (
    "joann@example.com",
    "ann@example.community",
    "ann@example.com.au",
    "x.ann@example.com",
    "news+ann@example.com",
    "ann@sub.example.com",
    "annXexample.com",
    "ann@exampleXcom",
    ERASED_ADDRESS,
)


@pytest.mark.parametrize("text", NAMED)
async def test_every_way_to_write_an_address_names_its_owner(conn: Conn, text: str) -> None:
    spellings = parse_address("ann@example.com").spellings

    assert matcher_of(spellings).search(text)
    assert await make.scalar(conn, "SELECT %s ~* %s", text, pattern_of(spellings))


@pytest.mark.parametrize("address", ["ann@example.com", "user@bücher.example"])
async def test_the_database_searches_by_the_part_without_conditions_first(
    conn: Conn, address: str
) -> None:
    """With the conditions a search takes twenty times as long."""
    full = pattern_of(parse_address(address).spellings)
    core = await make.scalar(conn, "SELECT mailqueue.mention_core(%s)", full)
    assert full == f"{pattern._BEFORE}{core}{pattern._AFTER}"
    assert not re.search(r"\(\?<|\(\?[!=]", core)
    assert await make.scalar(conn, "SELECT mailqueue.mention_core('(?<!a)b')") == "(?<!a)b"


@pytest.mark.parametrize("text", ANOTHERS)
async def test_another_address_names_another(conn: Conn, text: str) -> None:
    spellings = parse_address("ann@example.com").spellings

    assert not matcher_of(spellings).search(text)
    assert not await make.scalar(conn, "SELECT %s ~* %s", text, pattern_of(spellings))


@pytest.mark.parametrize(
    "address",
    ["user@bücher.example", "δοκιμή@example.com", "o'neil+{x}|~$^`*?!#%&/=-_@example.com"],
)
async def test_strange_addresses_are_found_too(conn: Conn, address: str) -> None:
    spellings = parse_address(address).spellings
    pattern = pattern_of(spellings)
    octets = "SELECT encode(convert_to(%s, 'UTF8'), 'escape') ~* %s"

    for spelling in (address, *spellings):
        assert matcher_of(spellings).search(f"<{spelling}>")
        assert await make.scalar(conn, "SELECT %s ~* %s", f"<{spelling}>", pattern)
        assert await make.scalar(conn, octets, f"ü{spelling}", pattern)
    assert re.compile(pattern)


@pytest.mark.parametrize("spellings", [[], [""], ["@"], ["ann"], ["ann@example.com", ""], [None]])
def test_no_pattern_is_made_of_what_is_no_address(spellings: list[str]) -> None:
    """Such a pattern finds other persons too, and their data would be erased."""
    with pytest.raises(ValueError, match="cannot look for"):
        pattern_of(spellings)


def test_what_is_no_address_is_refused_before_it_is_encoded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A million letters take hours to encode, in which nothing else of the process goes on."""

    def encoded(_: str) -> Iterator[str]:
        pytest.fail("it is encoded")

    monkeypatch.setattr(pattern, "_encoded", encoded)
    with pytest.raises(ValueError, match="it is no address"):
        pattern.search_of(["x" * 1_000_000])
