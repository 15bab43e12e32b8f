"""Reads which DNS servers to ask. Pure."""

from dataclasses import dataclass
from ipaddress import ip_address


@dataclass(frozen=True, slots=True)
class NameServer:
    """A DNS server that is asked instead of the system's."""

    address: str
    port: int = 53


def parse_name_servers(text: str) -> tuple[NameServer, ...]:
    """Read DNS servers written as IP addresses, each with :PORT where it is not 53.

    Raises:
        ValueError: naming the one at fault.
    """
    return tuple(_name_server(word) for word in text.replace(",", " ").split())


def _name_server(word: str) -> NameServer:
    host, port = word, "53"
    if word.count(":") == 1 or (word.startswith("[") and not word.endswith("]")):
        host, _, port = word.rpartition(":")
    try:
        address = ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        raise ValueError(f"{word!r} is not an IP address, or one with :PORT") from None
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise ValueError(f"{word!r} has no port from 1 to 65535")
    return NameServer(str(address), int(port))
