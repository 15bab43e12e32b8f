"""Recognize programs that open mail and follow links: proxies, crawlers, scanners, bursts. Pure.

It matters for counting only: people and programs get the same response.
"""

import re
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache

from crawleruseragents import is_crawler

SCAN_WITHIN = timedelta(seconds=15)
"""Window in which a scanner follows several links of a mail."""
SCAN_AFTER = timedelta(minutes=10)
"""How long after the mail was sent a burst is taken for a scan."""
SCAN_LINKS = 3
"""Different links within SCAN_WITHIN that make a burst."""
INSTANT = timedelta(seconds=5)
"""Time after the mail was sent that is too short to receive it, read it and follow a link."""
MAX_AGENT_CHARACTERS = 300
"""Characters of a user agent that are compared with the list of crawlers, which takes 0.5 ms."""


class Machine(StrEnum):
    """The kind of program that made a request."""

    APPLE_PRIVACY = "apple_privacy"  # fetches pictures of all mail, whether it is read or not
    PREFETCH = "prefetch"  # a browser or mailbox that loads pages and pictures in advance
    SCANNER = "scanner"  # a security scanner, crawler, link preview or HTTP library
    BURST = "burst"  # several links of one mail within seconds, right after delivery
    INSTANT = "instant"  # a link followed while the mail was sent, or within seconds after


class Proxy(StrEnum):
    """A mailbox provider's proxy that fetches pictures when a person opens the mail."""

    GMAIL = "gmail"
    YAHOO = "yahoo"


# Apple's proxy sends only this, from the addresses of relays, which change.
_APPLE = "Mozilla/5.0"
_PROXIES = ((b"GoogleImageProxy", Proxy.GMAIL), (b"YahooMailProxy", Proxy.YAHOO))
# What Gmail sends before the mail is opened: a browser of 2015 with a word too many.
_GMAIL_PREFETCH = re.compile(r" Edge/12\.\d{1,6} Mozilla/5\.0$")
# Words in the names of programs that follow links; the telephone Cubot is excluded.
_SCANNERS = re.compile(
    r"""(?<!cu)bot\b|crawl|spider|slurp|scan(?:ner|ning)?\b|preview|externalhit|headless|phantomjs
      | \b(?:curl|wget|libwww-perl|lwp|python|aiohttp|httpx|go-http-client|java|ruby|perl
           |guzzle|axios|node|node-fetch|undici|postman\w{0,20}|apache-httpclient|winhttp|libcurl
           |urlgrabber|php|scrapy|restsharp|rust|reqwest|http_request2)\b[/ ]?
      | barracuda|proofpoint|mimecast|symantec|messagelabs|trend\s?micro|fireeye|ironport|safelinks
      | zscaler|sophos|fortinet|fortiguard|check\s?point|bitdefender|kaspersky|mcafee|cyren
      | \bvade\b|hornetsecurity|cloudmark|trustwave|forcepoint|websense|palo\s?alto
      | urlscan|virustotal
      | google-safety|googledocs|skypeuri|whatsapp|facebookexternalhit|embedly|validator|monitor
      | uptime|pingdom|lighthouse|appengine|mail\.ru_bot
      | \bokhttp|\bdart/|\bhttpie\b|\bgoogle(?:other|-inspectiontool)|\+https?://""",
    re.IGNORECASE | re.VERBOSE,
)
_PREFETCH = (b"purpose", b"sec-purpose", b"x-purpose", b"x-moz")


def known_by(head: Mapping[bytes, bytes]) -> Machine | None:
    """Return the program that the headers of a request reveal; None: it may be a person."""
    machine = _called(head.get(b"user-agent", b""))
    if machine is None and any(name in head for name in _PREFETCH):
        said = b" ".join([head.get(name, b"") for name in _PREFETCH]).lower()
        return Machine.PREFETCH if b"prefetch" in said or b"preview" in said else None
    return machine


def proxy_of(head: Mapping[bytes, bytes]) -> Proxy | None:
    """Return the proxy that fetched a picture for a person; None without one."""
    return proxy_in(head.get(b"user-agent", b""))


def proxy_in(agent: bytes) -> Proxy | None:
    """Return the proxy that a user agent names; None: none."""
    return next((proxy for word, proxy in _PROXIES if word in agent), None)


@lru_cache(maxsize=10_000)  # many people use the same browser
def _called(name: bytes) -> Machine | None:
    agent = name.decode("latin-1").strip()[:MAX_AGENT_CHARACTERS]
    if agent == _APPLE:
        return Machine.APPLE_PRIVACY
    if any(word in name for word, _ in _PROXIES):
        return None
    if _GMAIL_PREFETCH.search(agent):
        return Machine.PREFETCH
    is_program = not agent or _SCANNERS.search(agent) or is_crawler(agent)
    return Machine.SCANNER if is_program else None


def is_burst(links: Collection[str], *, sent_at: datetime | None, now: datetime) -> bool:
    """Return whether different links of a mail, followed within SCAN_WITHIN, are a burst."""
    is_fresh = sent_at is None or now - sent_at <= SCAN_AFTER  # None: it is being sent now
    return is_fresh and len(links) >= SCAN_LINKS


def is_instant(*, sent_at: datetime | None, now: datetime) -> bool:
    """Return whether a link was followed sooner than a person could; False if `sent_at` is None."""
    return sent_at is not None and now - sent_at <= INSTANT
