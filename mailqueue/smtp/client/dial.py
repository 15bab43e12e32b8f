"""Connects to a server at an address that was checked, and to no other."""

import asyncio
import os
import socket
from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial
from ipaddress import ip_address
from typing import cast

from mailqueue.core.outbound_guard import Network, may_reach, normal_host
from mailqueue.core.verdict import Kind, Rejected, Stage

SockAddress = tuple[str, int] | tuple[str, int, int, int]
FAMILIES = (socket.AF_INET, socket.AF_INET6)


async def dial(
    host: str,
    port: int,
    *,
    allow_private: bool = False,
    allowed: Sequence[Network] = (),
    timeout_s: float = 20.0,
    lookups: Executor | None = None,
) -> socket.socket | Rejected:
    """Resolve once, check every address, connect to the first that answers.

    A name with one address that is not public is refused as a whole, unless the operator allowed
    it: what was checked is what is connected to, whatever the name means a second later. The
    refusal is the same whether or not anything listens there. `lookups` are threads for names: the
    loop has few, and a name server that never answers keeps each for as long as it likes.
    """
    try:
        name = normal_host(host)
    except ValueError as error:
        return _rejected(Kind.ACCOUNT, str(error))
    try:
        async with asyncio.timeout(timeout_s):
            found = await _resolve(name, port, lookups)
    except (TimeoutError, OSError, UnicodeError):
        return _rejected(Kind.TRANSIENT, f"cannot resolve {name}")
    if not found:
        return _rejected(Kind.TRANSIENT, f"{name} has no address")
    if not allow_private and not all(may_reach(ip_address(a[0]), allowed) for _, a in found):
        return _rejected(Kind.ACCOUNT, f"{name} does not lead to a public address")
    return await _connect(found, f"{name}:{port}", timeout_s=timeout_s)


async def _resolve(name: str, port: int, lookups: Executor | None) -> list[tuple[int, SockAddress]]:
    loop = asyncio.get_running_loop()
    if lookups is None:
        found = await loop.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    else:
        look = partial(socket.getaddrinfo, name, port, type=socket.SOCK_STREAM)
        found = await loop.run_in_executor(lookups, look)
    return [
        (family, cast(SockAddress, address))
        for family, _, _, _, address in found
        if family in FAMILIES
    ]


async def _connect(
    found: Sequence[tuple[int, SockAddress]], where: str, *, timeout_s: float
) -> socket.socket | Rejected:
    """Try the addresses in order; each gets its share of the time that is left."""
    loop = asyncio.get_running_loop()
    end = loop.time() + timeout_s
    why = ""
    for tried, (family, address) in enumerate(found):
        share_s = (end - loop.time()) / (len(found) - tried)
        try:
            sock = socket.socket(family, socket.SOCK_STREAM)
        except OSError as error:  # this process has no descriptor left
            return _rejected(Kind.TRANSIENT, f"no connection can be opened here: {error.strerror}")
        sock.setblocking(False)
        try:
            async with asyncio.timeout(share_s):
                await loop.sock_connect(sock, address)
        except TimeoutError:
            why = "no answer"
        except OSError as error:
            # Not the text of the error: some loops write the address into it.
            why = os.strerror(error.errno) if error.errno else "failed"
        except asyncio.CancelledError:
            sock.close()
            raise
        else:
            return sock
        sock.close()
    return _rejected(Kind.TRANSIENT, f"cannot connect to {where}: {why.lower()}")


def _rejected(kind: Kind, detail: str) -> Rejected:
    return Rejected(kind, "", detail, Stage.CONNECT)
