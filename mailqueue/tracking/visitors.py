"""Decides what is kept of whoever opens a mail or follows a link. Pure."""

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

AGENT_CHARACTERS = 300
_V4_BITS, _V6_BITS = 24, 48


def kept_of(head: Mapping[bytes, bytes], host: str | None) -> dict[str, Any]:
    """Give what of a visitor is stored; who asks not to be tracked leaves nothing but that."""
    if head.get(b"dnt", b"").strip() == b"1" or head.get(b"sec-gpc", b"").strip() == b"1":
        return {"do_not_track": True}
    kept: dict[str, Any] = {}
    agent = head.get(b"user-agent", b"").decode("utf-8", "replace")
    shown = "".join(char if char.isprintable() else " " for char in agent).strip()
    if shown:
        kept["user_agent"] = shown[:AGENT_CHARACTERS]
    if (network := network_of(host)) is not None:
        kept["ip"] = network
    return kept


def network_of(host: str | None) -> str | None:
    """Give the network an address is in: /24, of IPv6 /48; None for what is no address."""
    try:
        address: IPv4Address | IPv6Address = ip_address((host or "").partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    bits = _V4_BITS if isinstance(address, IPv4Address) else _V6_BITS
    return str(ip_network((address, bits), strict=False))
