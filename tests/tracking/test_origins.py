"""Opens and clicks by people have a country, a city, a client, a system and a device."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from mailqueue.inbound.handler import with_origins
from mailqueue.ports.inbound import InboundRequest
from mailqueue.tracking import origins
from mailqueue.tracking.machines import Proxy
from mailqueue.tracking.origins import OriginFinder, place_in
from tests.inbound.json_provider import Honest
from tests.network_files import network_file

_AGENTS = {
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/126.0.0.0 Safari/537.36": ("Chrome", "Windows", "desktop"),
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:115.0) Gecko/20100101 Thunderbird/115.6.0": (
        *("Thunderbird", "Windows", "desktop"),
    ),
    "Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 10.0; Microsoft Outlook 16.0.5134; ms-office)": (
        *("Outlook", "Windows", "desktop"),
    ),
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)": (
        *("Apple Mail", "macOS", "desktop"),
    ),
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like "
    "Gecko) Version/17.5 Mobile/15E148 Safari/604.1": ("Mobile Safari", "iOS", "phone"),
    "Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/16.6 Mobile/15E148 Safari/604.1": ("Mobile Safari", "iOS", "tablet"),
    "Mozilla/5.0 (Linux; Android 14; SM-S918B) AppleWebKit/537.36 (KHTML, like Gecko) "
    "SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile Safari/537.36": (
        *("Samsung Internet", "Android", "phone"),
    ),
    "Mozilla/5.0 (Linux; Android 13; SM-X700) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/126.0.0.0 Safari/537.36": ("Chrome", "Android", "tablet"),
    "Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:126.0) Gecko/20100101 Firefox/126.0": (
        *("Firefox", "Linux", "desktop"),
    ),
    "ann@example.com <script>alert(1)</script>": ("other", "other", "other"),
    "x" * 300: ("other", "other", "other"),
}


@pytest.mark.parametrize("agent", list(_AGENTS))
def test_the_user_agent_names_client_system_and_device(agent: str) -> None:
    assert tuple(OriginFinder(None).of({"user_agent": agent}).values()) == _AGENTS[agent]


def test_a_visitor_names_no_value_of_its_own() -> None:
    named = {*origins._CLIENTS.values(), *origins._SYSTEMS.values(), "other"}
    finder = OriginFinder(None)
    for word in ("Evil/1.0", "Evil (Linux; Evil 9)", "Chrome/9 Evil/2", "EvilOS", "Thunderbird/x"):
        found = finder.of({"user_agent": f"Mozilla/5.0 ({word}) {word}"})
        assert {found["client"], found["system"]} <= named


def test_the_network_names_country_and_city(tmp_path: Path) -> None:
    city = {"country": {"iso_code": "DE"}, "city": {"names": {"en": "Berlin", "de": "Berlin"}}}
    finder = OriginFinder(
        network_file(
            tmp_path,
            "GeoLite2-City",
            {"203.0.113.0/24": city, "2001:db8::/48": {"registered_country": {"iso_code": "PE"}}},
        )
    )
    assert finder.of({"ip": "203.0.113.0/24"}) == {"country": "DE", "city": "Berlin"}
    assert finder.of({"ip": "2001:db8::/48"}) == {"country": "PE"}
    assert finder.of({"ip": "198.51.100.0/24"}) == {}
    assert finder.of({"do_not_track": True}) == {}
    finder.close()


def test_a_proxy_names_the_mailbox_provider_alone(tmp_path: Path) -> None:
    record = {"country": {"iso_code": "US"}}
    finder = OriginFinder(network_file(tmp_path, "GeoLite2-Country", {"203.0.113.0/24": record}))
    kept = {"ip": "203.0.113.0/24", "user_agent": "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko"}
    assert finder.of(kept, proxy=Proxy.GMAIL) == {"client": "Gmail"}
    finder.close()


def test_a_visitor_by_ipv6_has_no_place_by_a_file_of_ipv4_and_ends_none_of_others(
    tmp_path: Path,
) -> None:
    record = {"country": {"iso_code": "DE"}}
    finder = OriginFinder(
        network_file(tmp_path, "Country", {"203.0.113.0/24": record}, ip_version=4)
    )
    assert finder.of({"ip": "2001:db8::/48"}) == {}
    assert finder.of({"ip": "203.0.113.0/24"}) == {"country": "DE"}
    finder.close()


def test_a_city_that_cannot_be_stored_is_named_without_what_cannot() -> None:
    record = {"country": {"iso_code": "DE"}, "city": {"names": {"en": "Ber\0lin"}}}
    assert place_in(record) == {"country": "DE", "city": "Berlin"}


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"country": "DE"},
        {"country": {"iso_code": 7}},
        {"country": {"iso_code": "ann@example.com"}},
        {"city": {"names": {"en": "Berlin"}}},
    ],
)
def test_a_record_without_a_country_names_no_place(record: dict[str, Any]) -> None:
    assert place_in(record) == {}


def test_a_file_that_cannot_be_read_costs_no_open_and_is_logged_once(tmp_path: Path) -> None:
    broken = tmp_path / "broken.mmdb"
    broken.write_bytes(b"none")
    finder = OriginFinder(broken)
    with capture_logs() as logs:
        assert [finder.of({"ip": "203.0.113.0/24"}) for _ in range(2)] == [{}, {}]
    assert [one["event"] for one in logs] == ["tracking.no_places"]


def test_events_of_providers_have_an_origin_unless_a_program_made_them() -> None:
    agent = next(iter(_AGENTS))
    body = (
        '[{"type": "opened", "data": {"user_agent": "AGENT"}},'
        ' {"type": "clicked", "data": {"user_agent": "AGENT", "is_machine": true}},'
        ' {"type": "delivered", "data": {"user_agent": "AGENT"}}, 7]'
    ).replace("AGENT", agent)
    request = InboundRequest("POST", {}, {}, body.encode())

    opened, clicked, delivered, bad = with_origins(OriginFinder(None), Honest().events(request))
    origin = {"client": "Chrome", "system": "Windows", "device": "desktop"}
    assert getattr(opened, "data", {}) == {"user_agent": agent, **origin}
    plain = Honest().events(replace(request))
    assert [clicked, delivered, bad] == list(plain[1:])


def test_a_picture_that_a_proxy_fetched_for_a_provider_names_the_mailbox_provider_alone() -> None:
    agent = (
        "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)"
    )
    body = f'[{{"type": "opened", "data": {{"ip": "66.249.84.0/24", "user_agent": "{agent}"}}}}]'

    (opened,) = with_origins(
        OriginFinder(None), Honest().events(InboundRequest("POST", {}, {}, body.encode()))
    )

    assert getattr(opened, "data", {}) == {
        "ip": "66.249.84.0/24",
        "user_agent": agent,
        "client": "Gmail",
    }
