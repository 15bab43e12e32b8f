"""Who hands mail in over a connection. Values only, but for how often they were told to wait."""

from dataclasses import dataclass

from mailqueue.tenants.model import Caller


@dataclass(slots=True)
class Program:
    """A client that has logged in with a key."""

    caller: Caller
    address: str
    told_to_wait: int = 0
