"""Ids that grow with time (RFC 9562, 5.7), for rows whose id is needed before they are stored."""

import os
import time
from uuid import UUID


def new_id() -> UUID:
    """Return a new UUID of version 7."""
    octets = bytearray((time.time_ns() // 1_000_000).to_bytes(6) + os.urandom(10))
    octets[6] = 0x70 | octets[6] & 0x0F
    octets[8] = 0x80 | octets[8] & 0x3F
    return UUID(bytes=bytes(octets))
