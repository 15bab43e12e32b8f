"""Time zones of networks, by a file in MaxMind's format of countries or cities.

Such a file is given by the operator (MAILQUEUE_COUNTRY_FILE); the optional package maxminddb reads
it. Where it has cities it may name the time zone; where it has countries, the zone is the first
that tzdata lists for the country, which is that of most of its people.
"""

import importlib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from mailqueue.core.errors import ConfigError


class NetworkFile:
    """Reads records of networks; the file is opened at the first use. `file` None: none."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._reader: Any = None

    @property
    def is_open(self) -> bool:
        """Return whether there is a file."""
        return self._file is not None

    def record_of(self, network: str) -> dict[str, Any] | None:
        """Return the record of a network such as 192.0.2.0/24; None: the file has none.

        Raises:
            ConfigError: the file cannot be read.
        """
        if self._file is None:
            return None
        if self._reader is None:
            self._reader = _opened(self._file)
        address = network.partition("/")[0]
        try:
            if ":" in address and self._reader.metadata().ip_version == 4:
                return None  # the file has none of IPv6, and refuses to look
            found = self._reader.get(address)
        except (OSError, ValueError, RuntimeError) as exc:  # InvalidDatabaseError is the last
            raise ConfigError(
                f"MAILQUEUE_COUNTRY_FILE: {self._file} cannot be read: {exc}"
            ) from exc
        return found if isinstance(found, dict) else None

    def close(self) -> None:
        """Close the file."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None


class ZoneFinder(NetworkFile):
    """Finds the time zone of a network."""

    def zone_of(self, network: str) -> str | None:
        """Return the time zone of a network such as 192.0.2.0/24; None: the file has none.

        Raises:
            ConfigError: the file cannot be read.
        """
        found = self.record_of(network)
        return None if found is None else zone_in(found)


def zone_in(record: dict[str, Any]) -> str | None:
    """Return the time zone of a record of the file: its own, or that of its country. Pure."""
    location = record.get("location")
    if isinstance(location, dict) and isinstance(location.get("time_zone"), str):
        return str(location["time_zone"])
    for name in ("country", "registered_country"):
        country = record.get(name)
        if isinstance(country, dict) and isinstance(country.get("iso_code"), str):
            return zones_by_country().get(country["iso_code"])
    return None


@cache
def zones_by_country() -> dict[str, str]:
    """Return the first time zone of each country, by its code of ISO 3166."""
    lines = files("tzdata").joinpath("zoneinfo", "zone.tab").read_text("utf-8").splitlines()
    found: dict[str, str] = {}
    for line in lines:
        if not line.startswith("#"):
            code, _, zone = line.split("\t")[:3]
            found.setdefault(code, zone)
    return found


def _opened(file: Path) -> Any:
    try:
        reader = importlib.import_module("maxminddb")
    except ModuleNotFoundError:
        raise ConfigError(
            "MAILQUEUE_COUNTRY_FILE needs the package maxminddb: pip install mailqueue[geo]"
        ) from None
    try:
        return reader.open_database(str(file))
    except (OSError, ValueError, RuntimeError) as exc:  # InvalidDatabaseError is the last
        raise ConfigError(f"MAILQUEUE_COUNTRY_FILE: {file} cannot be read: {exc}") from exc
