"""The TLS context for SMTP servers: the system's trusted certificates, TLS 1.2 and later."""

import asyncio
import ssl
import threading
from functools import lru_cache

_READING = threading.Lock()  # so that certificates are loaded once


async def system_trust() -> ssl.SSLContext:
    """Return the context that all accounts share, loaded once per process in a thread."""
    return await asyncio.to_thread(_shared)


def _shared() -> ssl.SSLContext:
    with _READING:
        return _read()


@lru_cache(maxsize=1)
def _read() -> ssl.SSLContext:
    return ssl.create_default_context()
