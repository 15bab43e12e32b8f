"""Framing of messages between a compile process and its parent."""

LENGTH_BYTES = 4
"""Size of the length before each message, in bytes, big-endian."""
