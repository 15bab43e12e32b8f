"""What the sink can be told to do wrong, and at which word of the conversation. Pure."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

CONNECT, DATA, DOT, RCPT = "CONNECT", "DATA", ".", "RCPT"


class Fault(StrEnum):
    """Ways of a server to misbehave."""

    NONE = "none"
    SLOW = "slow"  # each mail takes `wait_ms`
    SILENT = "silent"  # takes the mail and never says so
    GONE = "gone"  # takes the mail and closes without a word
    BUSY = "busy"  # 421, and closes
    TEMPORARY = "temporary"  # 451
    PERMANENT = "permanent"  # 550
    DRIP = "drip"  # answers arrive one byte at a time
    FLOOD = "flood"  # a reply of ten megabytes
    DISORDER = "disorder"  # says that it took the mail before it has it, and refuses it then
    HANG = "hang"  # neither answers nor reads any more
    REFUSE = "refuse"  # does not listen


@dataclass(frozen=True, slots=True)
class Orders:
    """One fault and where it strikes: CONNECT, a verb, or the dot."""

    fault: Fault = Fault.NONE
    at: str = DOT
    wait_ms: float = 0.0

    def strike(self, verb: str) -> bool:
        """Return whether the fault strikes at this word."""
        if self.fault is Fault.DISORDER:
            return verb in (DATA, DOT)
        return self.fault is Fault.DRIP or self.at == verb

    def words(self) -> dict[str, object]:
        return asdict(self)


def orders_from(words: Mapping[str, Any]) -> Orders:
    """Read what `Orders.words` wrote."""
    return Orders(Fault(words["fault"]), str(words["at"]), float(words["wait_ms"]))
