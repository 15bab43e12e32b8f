"""Which surfaces are served on which address."""

from collections.abc import Iterable, Mapping

from mailqueue.settings.environment import Settings
from mailqueue.settings.listeners import Surface

ListenAddress = tuple[str, int, str]
"""Host, port, and the option that names the port."""


def listeners_of(
    settings: Settings, surfaces: Iterable[Surface] = Surface
) -> Mapping[frozenset[Surface], ListenAddress]:
    """Return the address of each group of surfaces; those without one share that of the API.

    Pure.
    """
    given = settings.listeners
    own: dict[Surface, ListenAddress] = {}
    if given.console_port is not None:
        own[Surface.CONSOLE] = (settings.console.host, given.console_port, "--console-port")
    if given.public_port is not None:
        own[Surface.PUBLIC] = (given.public_host, given.public_port, "--public-port")
    wanted = frozenset(surfaces)
    api = (settings.api.host, settings.api.port)
    own = {each: place for each, place in own.items() if place[:2] != api or not place[1]}
    shared = wanted.difference(own)
    found: dict[frozenset[Surface], ListenAddress] = {
        shared: (settings.api.host, settings.api.port, "--port")
    }
    by_address: dict[tuple[str, int], set[Surface]] = {}
    for surface in sorted(wanted.intersection(own)):
        host, port, _ = own[surface]
        # Port 0 is a free port for each.
        by_address.setdefault((host, port or -len(by_address) - 1), set()).add(surface)
    for group in by_address.values():
        found[frozenset(group)] = own[min(group)]
    return found
