"""What the methods of the client have in common."""

from abc import ABC, abstractmethod
from typing import TypeVar

from mailqueue.client.request import ApiRequest

T = TypeVar("T")


class AsyncCalls(ABC):
    """Methods of the client, each of which makes one request."""

    @abstractmethod
    async def _ask(self, ask: ApiRequest[T]) -> T:
        """Return the answer to a request."""
