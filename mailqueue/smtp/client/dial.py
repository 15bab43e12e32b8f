"""Connects to a server at a checked address."""

import asyncio
import os
import socket
from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial
from ipaddress import ip_address
from typing import cast

from mailqueue.core.outbound_guard import IpNetwork, may_reach, normal_host
from mailqueue.core.verdict import Fault, Rejected, Stage

SockAddress = tuple[str, int] | tuple[str, int, int, int]
FAMILIES = (socket.AF_INET, socket.AF_INET6)


async def dial(
    host: str,
    port: int,
    *,
    allow_private: bool = False,
    allowed: Sequence[IpNetwork] = (),
    timeout_s: float = 20.0,
    lookups: Executor | None = None,
) -> socket.socket | Rejected:
    """Resolve the host once, check every address, and connect to the first that answers.

    A host with one address that is not public is refused, unless `allow_private` or `allowed`
    permits it. The name is not resolved a second time, so that the address connected to is the one
    checked (DNS rebinding). The refusal does not tell whether a server listens there. `lookups` is
    the executor for DNS lookups: a name server that does not answer blocks a thread, and the event
    loop's executor has few.
    """
    try:
        name = normal_host(host)
    except ValueError as error:
        return _rejected(Fault.ACCOUNT, str(error))
    try:
        async with asyncio.timeout(timeout_s):
            found = await _resolve(name, port, lookups)
    except (TimeoutError, OSError, UnicodeError):
        return _rejected(Fault.TRANSIENT, f"cannot resolve {name}")
    if not found:
        return _rejected(Fault.TRANSIENT, f"{name} has no address")
    if not allow_private and not all(may_reach(ip_address(a[0]), allowed) for _, a in found):
        return _rejected(Fault.ACCOUNT, f"{name} is not a public address")
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
    addresses: Sequence[tuple[int, SockAddress]], where: str, *, timeout_s: float
) -> socket.socket | Rejected:
    """Try the addresses in order; divide the remaining time among them."""
    loop = asyncio.get_running_loop()
    end = loop.time() + timeout_s
    why = ""
    for tried, (family, address) in enumerate(addresses):
        share_s = (end - loop.time()) / (len(addresses) - tried)
        try:
            sock = socket.socket(family, socket.SOCK_STREAM)
        except OSError as error:  # this process has no file descriptor left
            return _rejected(Fault.TRANSIENT, f"cannot open a socket: {error.strerror}")
        sock.setblocking(False)
        try:
            async with asyncio.timeout(share_s):
                await loop.sock_connect(sock, address)
        except TimeoutError:
            why = "no answer"
        except OSError as error:
            # Not the text of the error: some event loops include the address.
            why = os.strerror(error.errno) if error.errno else "failed"
        except asyncio.CancelledError:
            sock.close()
            raise
        else:
            return sock
        sock.close()
    return _rejected(Fault.TRANSIENT, f"cannot connect to {where}: {why.lower()}")


def _rejected(kind: Fault, detail: str) -> Rejected:
    return Rejected(kind, "", detail, Stage.CONNECT)
