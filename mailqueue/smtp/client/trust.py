"""Decides which servers' certificates are believed: those this system trusts, TLS 1.2 and later."""

import asyncio
import ssl
import threading
from functools import lru_cache

_READING = threading.Lock()  # else accounts that open together would each read every certificate


async def system_trust() -> ssl.SSLContext:
    """Return the context all accounts share; read once a process, and not on the loop."""
    return await asyncio.to_thread(_shared)


def _shared() -> ssl.SSLContext:
    with _READING:
        return _read()


@lru_cache(maxsize=1)
def _read() -> ssl.SSLContext:
    return ssl.create_default_context()
