"""Data stored about a visitor who opens a mail or follows a link. Pure."""

from collections.abc import Mapping
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

AGENT_CHARACTERS = 300
_V4_BITS, _V6_BITS = 24, 48


def kept_of(head: Mapping[bytes, bytes], host: str | None) -> dict[str, Any]:
    """Return the user agent and network to store; with DNT or Sec-GPC, only that fact."""
    if head.get(b"dnt", b"").strip() == b"1" or head.get(b"sec-gpc", b"").strip() == b"1":
        return {"do_not_track": True}
    kept: dict[str, Any] = {}
    if agent := _shown(head.get(b"user-agent", b"")):
        kept["user_agent"] = agent
    if (network := network_of(host)) is not None:
        kept["ip"] = network
    return kept


@lru_cache(maxsize=1024)  # many people use the same browser
def _shown(agent: bytes) -> str:
    text = agent.decode("utf-8", "replace")
    return "".join(char if char.isprintable() else " " for char in text).strip()[:AGENT_CHARACTERS]


@lru_cache(maxsize=1024)  # and the same proxies
def network_of(host: str | None) -> str | None:
    """Return the /24 (IPv6: /48) network of an IP address; None when it is none."""
    try:
        address: IPv4Address | IPv6Address = ip_address((host or "").partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    bits = _V4_BITS if isinstance(address, IPv4Address) else _V6_BITS
    return str(ip_network((address, bits), strict=False))
