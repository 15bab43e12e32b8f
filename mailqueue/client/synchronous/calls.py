# Made from mailqueue/client/asynchronous, which is to be changed instead:
# python -m tests.client.made --write

"""What the methods of the client have in common."""

from abc import ABC, abstractmethod
from typing import TypeVar

from mailqueue.client.request import ApiRequest

T = TypeVar("T")


class Calls(ABC):
    """Methods of the client, each of which makes one request."""

    @abstractmethod
    def _ask(self, ask: ApiRequest[T]) -> T:
        """Return the answer to a request."""
