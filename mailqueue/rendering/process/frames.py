"""How a compile process and the process inside it tell where a message ends."""

LENGTH_BYTES = 4
"""Of the length that stands before each message, most significant first."""
