"""Wait between two looks at what a worker does."""

import asyncio

POLL_SECONDS = 1.0
"""Poll interval of `--wait`."""


async def until_next_look(seconds: float = POLL_SECONDS) -> None:
    """Wait until it is time to look again."""
    await asyncio.sleep(seconds)
