"""Programs that open mail are distinguished from people, and little is stored of either."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from crawleruseragents import CRAWLER_USER_AGENTS_DATA
from playwright.sync_api import sync_playwright

from mailqueue.tracking.machines import (
    INSTANT,
    SCAN_AFTER,
    Machine,
    Proxy,
    is_burst,
    is_instant,
    known_by,
    proxy_of,
)
from mailqueue.tracking.visitors import AGENT_CHARACTERS, kept_of, network_of

WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"
NOW = datetime(2030, 5, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "agent",
    [
        f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {WEBKIT} Chrome/120.0.0.0 Safari/537.36",
        f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {WEBKIT} Chrome/120 Safari/537.36 Edg/120",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148",
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)",
        f"Mozilla/5.0 (Linux; Android 9; CUBOT NOTE) {WEBKIT} Chrome/100 Mobile Safari/537.36",
        f"Mozilla/5.0 (Windows NT 10.0) {WEBKIT} Chrome/118 YaBrowser/23.11 Safari/537.36",
        "Mozilla/5.0 (X11; Linux x86_64; rv:115.0) Gecko/20100101 Thunderbird/115.4.1",
        "Mozilla/4.0 (compatible; ms-office; MSOffice 16)",
        "Outlook-iOS/709.2189947.prod.iphone (3.24.0)",
    ],
)
def test_people_are_taken_for_people(agent: str) -> None:
    assert known_by({b"user-agent": agent.encode()}) is None


@pytest.mark.parametrize(
    ("agent", "machine"),
    [
        ("Mozilla/5.0", Machine.APPLE_PRIVACY),
        (
            f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {WEBKIT} Chrome/42.0.2311.135 Safari/537.36"
            " Edge/12.246 Mozilla/5.0",
            Machine.PREFETCH,
        ),
        ("okhttp/4.12.0", Machine.SCANNER),
        ("Dart/3.5 (dart:io)", Machine.SCANNER),
        ("HTTPie/3.2.2", Machine.SCANNER),
        ("GoogleOther", Machine.SCANNER),
        ("Mozilla/5.0 (compatible; Google-InspectionTool/1.0;)", Machine.SCANNER),
        ("Mozilla/5.0 (compatible; linkcheck/1.0; +http://www.example.com/about)", Machine.SCANNER),
        ("", Machine.SCANNER),
        ("curl/8.5.0", Machine.SCANNER),
        ("python-requests/2.31.0", Machine.SCANNER),
        ("Go-http-client/2.0", Machine.SCANNER),
        ("Java/17.0.2", Machine.SCANNER),
        (f"Mozilla/5.0 (X11; Linux x86_64) {WEBKIT} HeadlessChrome/120", Machine.SCANNER),
        ("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "scanner"),
        ("Mozilla/5.0 (compatible; bingbot/2.0)", Machine.SCANNER),
        ("Mozilla/5.0 (Windows NT 6.1) BingPreview/1.0b", Machine.SCANNER),
        ("Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)", Machine.SCANNER),
        ("facebookexternalhit/1.1", Machine.SCANNER),
        ("Barracuda Sentinel (EE)", Machine.SCANNER),
        ("Mozilla/5.0 Proofpoint URL Defense", Machine.SCANNER),
    ],
)
def test_programs_are_known_by_what_they_call_themselves(agent: str, machine: str) -> None:
    assert known_by({b"user-agent": agent.encode()}) == machine


def published_crawlers() -> Iterator[str]:
    for crawler in CRAWLER_USER_AGENTS_DATA:
        yield from crawler["instances"]


def published_devices() -> Iterator[str]:
    """Yield the user agents of browsers on the devices that Playwright imitates."""
    with sync_playwright() as play:
        for device in play.devices.values():
            yield device["user_agent"]


def test_every_published_crawler_is_a_program_or_a_proxy() -> None:
    crawlers = [{b"user-agent": agent.encode()} for agent in published_crawlers()]

    assert len(crawlers) > 2000
    assert [head for head in crawlers if known_by(head) is None and proxy_of(head) is None] == []


def test_no_browser_of_a_published_list_of_devices_is_a_program() -> None:
    devices = set(published_devices())

    assert len(devices) > 50
    assert {agent for agent in devices if known_by({b"user-agent": agent.encode()})} == set()


@pytest.mark.parametrize(
    ("agent", "proxy"),
    [
        (
            "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0"
            " (via ggpht.com GoogleImageProxy)",
            Proxy.GMAIL,
        ),
        ("YahooMailProxy; https://help.yahoo.com/kb/", Proxy.YAHOO),
    ],
)
def test_a_mailbox_providers_proxy_opens_for_a_person(agent: str, proxy: Proxy) -> None:
    head = {b"user-agent": agent.encode()}

    assert (known_by(head), proxy_of(head)) == (None, proxy)


def test_a_long_user_agent_is_compared_by_its_beginning() -> None:
    assert known_by({b"user-agent": b"Mozilla/5.0 (X11) " + b"a " * 300_000}) is None


@pytest.mark.parametrize("name", [b"purpose", b"sec-purpose", b"x-purpose", b"x-moz"])
def test_a_browser_that_guesses_what_comes_next_is_no_person(name: bytes) -> None:
    person = {b"user-agent": f"Mozilla/5.0 (X11) {WEBKIT} Chrome/120".encode()}

    assert known_by(person | {name: b"prefetch;prerender"}) is Machine.PREFETCH


@pytest.mark.parametrize(
    ("links", "ago", "is_one"),
    [
        ("abc", timedelta(seconds=5), True),
        ("ab", timedelta(seconds=5), False),
        ("abc", SCAN_AFTER + timedelta(seconds=1), False),
    ],
)
def test_many_links_at_once_are_a_burst_only_when_the_mail_is_fresh(
    links: str, ago: timedelta, is_one: bool
) -> None:
    assert is_burst(set(links), sent_at=NOW - ago, now=NOW) is is_one


@pytest.mark.parametrize(
    ("ago", "is_one"), [(timedelta(0), True), (INSTANT, True), (INSTANT * 2, False)]
)
def test_a_link_followed_as_soon_as_the_mail_was_sent_was_followed_by_a_program(
    ago: timedelta, is_one: bool
) -> None:
    assert is_instant(sent_at=NOW - ago, now=NOW) is is_one


def test_a_link_of_a_mail_whose_time_is_unknown_was_followed_by_a_person() -> None:
    assert not is_instant(sent_at=None, now=NOW)


def test_mail_that_is_still_on_its_way_is_fresh() -> None:
    assert is_burst({"a", "b", "c"}, sent_at=None, now=NOW)


@pytest.mark.parametrize(
    ("host", "network"),
    [
        ("203.0.113.77", "203.0.113.0/24"),
        ("2001:db8:1:2:3::4", "2001:db8:1::/48"),
        ("::ffff:203.0.113.77", "203.0.113.0/24"),
        ("fe80::1%eth0", "fe80::/48"),
        ("unix:", None),
        ("", None),
        (None, None),
    ],
)
def test_of_an_address_only_its_network_is_kept(host: str | None, network: str | None) -> None:
    assert network_of(host) == network


def test_what_visitors_call_themselves_is_cut_and_made_plain() -> None:
    kept = kept_of({b"user-agent": b"a\x1b[31m\xff" + b"x" * 1000}, "203.0.113.77")

    assert kept["user_agent"].startswith("a [31m")
    assert len(kept["user_agent"]) == AGENT_CHARACTERS
    assert kept["user_agent"].isprintable()
