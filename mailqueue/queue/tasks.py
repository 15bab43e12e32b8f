"""Ends tasks of a worker."""

import asyncio
from typing import Any


async def cancelled(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks and wait until they have ended; what they raise is dropped."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
