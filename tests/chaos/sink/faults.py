"""The faults that the sink can simulate, and at which step of the conversation. Pure."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

CONNECT, DATA, DOT, RCPT = "CONNECT", "DATA", ".", "RCPT"


class Fault(StrEnum):
    """Faults of a mail server."""

    NONE = "none"
    SLOW = "slow"  # each mail takes `wait_ms`
    SILENT = "silent"  # takes the mail and never replies
    GONE = "gone"  # takes the mail and closes without a reply
    BUSY = "busy"  # 421, and closes
    TEMPORARY = "temporary"  # 451
    PERMANENT = "permanent"  # 550
    DRIP = "drip"  # answers arrive one byte at a time
    FLOOD = "flood"  # a reply of ten megabytes
    DISORDER = "disorder"  # accepts the mail before it has been sent, and refuses it afterwards
    HANG = "hang"  # stops reading and replying
    REFUSE = "refuse"  # does not listen


@dataclass(frozen=True, slots=True)
class Orders:
    """One fault and the step at which it occurs: CONNECT, a verb, or the final dot."""

    fault: Fault = Fault.NONE
    at: str = DOT
    wait_ms: float = 0.0

    def occurs_at(self, verb: str) -> bool:
        """Return whether the fault occurs at this verb."""
        if self.fault is Fault.DISORDER:
            return verb in (DATA, DOT)
        return self.fault is Fault.DRIP or self.at == verb

    def words(self) -> dict[str, object]:
        return asdict(self)


def orders_from(words: Mapping[str, Any]) -> Orders:
    """Return the orders that `Orders.words` returned as a mapping."""
    return Orders(Fault(words["fault"]), str(words["at"]), float(words["wait_ms"]))
