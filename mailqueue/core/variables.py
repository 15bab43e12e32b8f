"""How single settings are written in the environment, and what each may be. Pure."""

from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated

from pydantic import BeforeValidator, Field
from pydantic_settings import NoDecode

from mailqueue.core.dsn import take_pool_max
from mailqueue.core.nameserver import NameServer, parse_name_servers
from mailqueue.core.places import parse_place, parse_places
from mailqueue.core.secret import Secret

Network = IPv4Network | IPv6Network


def _secret(value: object) -> object:
    return Secret(value) if isinstance(value, str) else value


def check_database_url(value: object) -> object:
    """Refuse a connection string whose pool_max is no number; give it as a secret."""
    if isinstance(value, str):
        take_pool_max(value)
    return _secret(value)


def _networks(value: object) -> object:
    if not isinstance(value, str):
        return value
    words = value.replace(",", " ").split()
    return tuple(ip_network(word) for word in words)


def _name_servers(value: object) -> object:
    return parse_name_servers(value) if isinstance(value, str) else value


def _place(value: object) -> object:
    return parse_place(value) if isinstance(value, str) else value


def _places(value: object) -> object:
    return parse_places(value) if isinstance(value, str) else value


def refuse_control(value: object) -> object:
    """Refuse text with control characters in it."""
    if isinstance(value, str) and not value.isprintable():
        raise ValueError("must be printable text")
    return value


Port = Annotated[int, Field(ge=0, le=65535)]
SecretText = Annotated[Secret, BeforeValidator(_secret)]
Networks = Annotated[tuple[Network, ...], NoDecode, BeforeValidator(_networks)]
NameServers = Annotated[tuple[NameServer, ...], NoDecode, BeforeValidator(_name_servers)]
ArchivePlace = Annotated[str | None, BeforeValidator(_place)]
Places = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_places)]
