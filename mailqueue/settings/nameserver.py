"""Parses the DNS servers of domain checks. Pure."""

from dataclasses import dataclass
from ipaddress import ip_address


@dataclass(frozen=True, slots=True)
class NameServer:
    """A DNS server that replaces those of the system."""

    address: str
    port: int = 53


def parse_name_servers(text: str) -> tuple[NameServer, ...]:
    """Parse DNS servers written as IP addresses, each with :PORT if it is not 53.

    Raises:
        ValueError: one is not valid; the message names it.
    """
    return tuple(_name_server(word) for word in text.replace(",", " ").split())


def _name_server(word: str) -> NameServer:
    host, port = word, "53"
    if word.count(":") == 1 or (word.startswith("[") and not word.endswith("]")):
        host, _, port = word.rpartition(":")
    try:
        address = ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        raise ValueError(f"{word!r} is not an IP address with an optional :PORT") from None
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise ValueError(f"{word!r} must have a port from 1 to 65535")
    return NameServer(str(address), int(port))
