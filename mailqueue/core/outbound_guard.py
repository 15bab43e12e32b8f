"""Decides which hosts and addresses connections may be made to. Pure.

`ipaddress.is_global` does not suffice: it allows NAT64, 6to4, IPv4-compatible and multicast
addresses, all of which can lead to private networks. Instead, IPv4 has a list of networks that are
not public, and IPv6 allows only the space assigned for public use, without the parts for tunnels.
"""

import re
from collections.abc import Iterable
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
)

IpAddress = IPv4Address | IPv6Address
IpNetwork = IPv4Network | IPv6Network

# https://www.iana.org/assignments/iana-ipv4-special-registry, and multicast
NOT_PUBLIC_V4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",  # shared space of carriers; some clouds have metadata services here
        "127.0.0.0/8",
        "168.63.129.16/32",  # a public address that a large cloud uses inside its hosts
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",  # 192.0.0.192 is the metadata service of one cloud
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)

# https://www.iana.org/assignments/ipv6-unicast-address-assignments
PUBLIC_V6 = IPv6Network("2000::/3")
NOT_PUBLIC_V6 = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # Teredo, benchmarking, ORCHID and other protocol assignments
        "2001:db8::/32",
        "2002::/16",  # 6to4 carries any IPv4 address inside
        "2620:4f:8000::/48",
        "3ffe::/16",
        "3fff::/20",
    )
)

LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
# Number formats that C libraries read as an IPv4 address: 0x7f.1, 0177.0.0.1, 2130706433.
NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


def is_public(address: IpAddress) -> bool:
    """Return whether the address is on the public internet."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in NOT_PUBLIC_V4)
    if address.scope_id is not None or address not in PUBLIC_V6:
        return False
    return not any(address in network for network in NOT_PUBLIC_V6)


def may_reach(address: IpAddress, allowed: Iterable[IpNetwork] = ()) -> bool:
    """Return whether an address is public or in an allowed network."""
    return is_public(address) or any(address in network for network in allowed)


def is_off_limits(host: str, allowed: Iterable[IpNetwork] = ()) -> bool:
    """Return whether a host in normal form is a private address, by the address itself.

    What other names lead to is known at a connection only.
    """
    if host == "localhost" or host.endswith(".localhost"):  # RFC 6761: a loopback address
        return not may_reach(IPv4Address("127.0.0.1"), allowed)
    address = _literal(host)
    return address is not None and not may_reach(address, allowed)


def normal_host(text: str) -> str:
    """Return a host name or address literal in normal form.

    Names are in lower case without the final dot, IPv6 literals without brackets.

    Raises:
        ValueError: it is not a host, is not ASCII, or is a number that some resolvers read as an
            address.
    """
    host = text.lower().removesuffix(".")
    if not text.isascii():
        raise ValueError(f"host {text!r} is not ASCII; write the name in its xn-- form")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    literal = _literal(host)
    if literal is not None:
        return str(literal)
    labels = host.split(".")
    if NUMBER.fullmatch(labels[-1]):
        raise ValueError(f"host {text!r} is neither a name nor an address in the usual form")
    if len(host) > 253 or not all(LABEL.fullmatch(label) for label in labels):
        raise ValueError(f"host {text!r} is not a host name")
    return host


def _literal(host: str) -> IpAddress | None:
    if "%" in host:  # a zone names a local network interface
        return None
    try:
        return ip_address(host)
    except ValueError:
        return None
