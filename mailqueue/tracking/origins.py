"""Where opens and clicks come from, and with what: country, city, client, system, device.

The place is that of the network, by the operator's file (MAILQUEUE_COUNTRY_FILE); client, system
and device are read from the user agent by ua-parser (https://github.com/ua-parser/uap-core).
Clients and systems are those listed here, and `other`: a visitor names no value of counts.
"""

import threading
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ua_parser import Parser, Result
from ua_parser.loaders import load_builtins
from ua_parser.regex import Resolver

from mailqueue.core.errors import ConfigError
from mailqueue.core.storable_text import storable
from mailqueue.schedules.countries import NetworkFile
from mailqueue.telemetry.log import get_logger
from mailqueue.tracking.machines import Proxy, proxy_in

OTHER = "other"
MAX_CITY_CHARACTERS = 100
_CLIENTS: Mapping[str, str] = {
    "Apple Mail": "Apple Mail",
    "Chrome": "Chrome",
    "Chrome Mobile": "Chrome Mobile",
    "Chrome Mobile iOS": "Chrome Mobile",
    "Chrome Mobile WebView": "Android WebView",
    "Chromium": "Chrome",
    "DuckDuckGo": "DuckDuckGo",
    "DuckDuckGo Mobile": "DuckDuckGo",
    "Edge": "Edge",
    "Edge Mobile": "Edge",
    "Facebook": "Facebook",
    "Firefox": "Firefox",
    "Firefox Mobile": "Firefox Mobile",
    "Firefox iOS": "Firefox Mobile",
    "Google": "Google app",
    "IE": "Internet Explorer",
    "Instagram": "Instagram",
    "Lotus Notes": "Notes",
    "Mobile Safari": "Mobile Safari",
    "Mobile Safari UI/WKWebView": "iOS WebView",
    "Opera": "Opera",
    "Opera Mobile": "Opera",
    "Outlook": "Outlook",
    "Outlook-iOS": "Outlook",
    "Outlook-Android": "Outlook",
    "MacOutlook": "Outlook",
    "Windows Live Mail": "Windows Live Mail",
    "Safari": "Safari",
    "Samsung Internet": "Samsung Internet",
    "Spark": "Spark",
    "Thunderbird": "Thunderbird",
    "Vivaldi": "Vivaldi",
    "Yandex Browser": "Yandex Browser",
}
"""What ua-parser calls a client, and what counts call it."""
_SYSTEMS: Mapping[str, str] = {
    "Android": "Android",
    "Chrome OS": "Chrome OS",
    "Fedora": "Linux",
    "FreeBSD": "FreeBSD",
    "iOS": "iOS",
    "Linux": "Linux",
    "Mac OS X": "macOS",
    "Ubuntu": "Linux",
    "Windows": "Windows",
}
_PROXIES: Mapping[Proxy, str] = {Proxy.GMAIL: "Gmail", Proxy.YAHOO: "Yahoo Mail"}
_DESKTOPS = frozenset({"Chrome OS", "FreeBSD", "Linux", "macOS", "Windows"})

log = get_logger(__name__)


class OriginFinder:
    """Finds origins. Its parser takes half a second to load: see `load`."""

    def __init__(self, file: Path | None) -> None:
        self._networks = NetworkFile(file)
        self._broken = False
        self._loading = threading.Lock()
        self._parse: Callable[[str], Result] | None = None

    @property
    def is_loaded(self) -> bool:
        """Return whether the parser is loaded."""
        return self._parse is not None

    def load(self) -> None:
        """Load the parser, once; call it in a thread."""
        with self._loading:
            if self._parse is None:
                parser = Parser(Resolver(load_builtins()))
                self._parse = lru_cache(maxsize=10_000)(parser.parse)

    def of(self, kept: Mapping[str, Any], *, proxy: Proxy | None = None) -> dict[str, str]:
        """Return the origin of a visit by a person: what is known of it.

        `kept` has the network as `ip` and the user agent as `user_agent`. A proxy of a mailbox
        provider, which is given or named by the user agent, reveals the provider alone.
        """
        origin = dict[str, str]()
        network, agent = kept.get("ip"), kept.get("user_agent")
        if proxy is None and isinstance(agent, str):
            proxy = proxy_in(agent.encode("utf-8", "replace"))
        if proxy is not None:
            return {"client": _PROXIES[proxy]}
        if isinstance(network, str):
            origin |= self._place_of(network)
        if isinstance(agent, str) and agent:
            origin |= self._program_of(agent)
        return origin

    def close(self) -> None:
        """Close the file."""
        self._networks.close()

    def _place_of(self, network: str) -> dict[str, str]:
        if self._broken:
            return {}
        try:
            record = self._networks.record_of(network)
        except ConfigError as exc:  # no reason to lose an open
            self._broken = True
            log.error("tracking.no_places", why=str(exc))
            return {}
        return {} if record is None else place_in(record)

    def _program_of(self, agent: str) -> dict[str, str]:
        if self._parse is None:
            self.load()
            assert self._parse is not None
        found = self._parse(agent)
        client = found.user_agent and _CLIENTS.get(found.user_agent.family)
        system = found.os and _SYSTEMS.get(found.os.family)
        brand = found.device.family if found.device else ""
        return {
            "client": client or OTHER,
            "system": system or OTHER,
            "device": _device_of(system or "", brand, agent),
        }


def place_in(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the country (ISO 3166) and city of a record in MaxMind's format. Pure."""
    for name in ("country", "registered_country"):
        country = record.get(name)
        code = country.get("iso_code") if isinstance(country, dict) else None
        if isinstance(code, str) and len(code) == 2 and code.isascii() and code.isalpha():
            break
    else:
        return {}
    city = record.get("city")
    names = city.get("names") if isinstance(city, dict) else None
    called = names.get("en") if isinstance(names, dict) else None
    place = {"country": code.upper()}
    if isinstance(called, str) and (name := (storable(called) or "").strip()):
        place["city"] = name[:MAX_CITY_CHARACTERS]
    return place


def _device_of(system: str, family: str, agent: str) -> str:
    """Return `phone`, `tablet`, `desktop` or `other`. Pure.

    A tablet with Android leaves out the word Mobile
    (https://developer.chrome.com/docs/multidevice/user-agent).
    """
    if family == "iPad":
        return "tablet"
    if system == "iOS":
        return "phone"
    if system == "Android":
        return "phone" if "Mobile" in agent else "tablet"
    return "desktop" if system in _DESKTOPS else OTHER
