"""Time zones of networks, by files in MaxMind's format that another program writes."""

from pathlib import Path

import pytest

from mailqueue.core.errors import ConfigError
from mailqueue.schedules.countries import ZoneFinder, zones_by_country
from tests.network_files import network_file


def test_a_file_of_countries_names_the_first_zone_of_a_country(tmp_path: Path) -> None:
    finder = ZoneFinder(
        network_file(
            tmp_path,
            "GeoLite2-Country",
            {
                "192.0.2.0/24": {"country": {"iso_code": "NZ"}},
                "2001:db8::/48": {"registered_country": {"iso_code": "PE"}},
                "198.51.100.0/24": {"continent": {"code": "EU"}},
            },
        )
    )
    assert finder.zone_of("192.0.2.0/24") == "Pacific/Auckland"
    assert finder.zone_of("192.0.2.0") == "Pacific/Auckland"
    assert finder.zone_of("2001:db8::/48") == "America/Lima"
    assert finder.zone_of("198.51.100.0/24") is None
    assert finder.zone_of("203.0.113.0/24") is None
    finder.close()


def test_a_file_of_cities_names_the_zone_itself(tmp_path: Path) -> None:
    record = {"country": {"iso_code": "US"}, "location": {"time_zone": "Pacific/Honolulu"}}
    finder = ZoneFinder(network_file(tmp_path, "GeoLite2-City", {"192.0.2.0/24": record}))
    assert finder.zone_of("192.0.2.0/24") == "Pacific/Honolulu"
    finder.close()


def test_without_a_file_nothing_is_known_and_a_broken_one_is_named(tmp_path: Path) -> None:
    assert not ZoneFinder(None).is_open
    assert ZoneFinder(None).zone_of("192.0.2.0/24") is None
    broken = tmp_path / "broken.mmdb"
    broken.write_bytes(b"none")
    with pytest.raises(ConfigError, match=r"broken\.mmdb cannot be read"):
        ZoneFinder(broken).zone_of("192.0.2.0/24")
    with pytest.raises(ConfigError, match=r"missing\.mmdb cannot be read"):
        ZoneFinder(tmp_path / "missing.mmdb").zone_of("192.0.2.0/24")


def test_every_country_has_a_zone() -> None:
    assert {"US", "NZ", "PE", "DE"} <= set(zones_by_country())
    assert len(zones_by_country()) > 240
