"""Simulator addresses, for which the trap replies like a server with a fault. Pure.

They are addresses of SIMULATOR_DOMAIN whose local part is in BEHAVIOUR_BY_NAME, with or without a
`+tag`; mail to other addresses is stored as usual.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType

from mailqueue.smtp.server.answer import SmtpReply

SIMULATOR_DOMAIN = "simulator.example"


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How the trap replies to mail for one address."""

    at_recipient: SmtpReply | None = None  # reply to RCPT, instead of accepting it
    after_data: SmtpReply | None = None  # reply to the final dot, instead of storing the message
    wait: timedelta = timedelta(0)  # stored, with the reply delayed by this time
    hangs_up: bool = False  # stored, but after the wait the connection closes without a reply


DEFAULT_BEHAVIOUR = Behaviour()

# If one message has several of these, the first in this list is used.
BEHAVIOUR_BY_NAME: Mapping[str, Behaviour] = MappingProxyType(
    {
        "bounced": Behaviour(at_recipient=SmtpReply(550, "5.1.1", "no such mailbox (simulated)")),
        "deferred": Behaviour(at_recipient=SmtpReply(451, "4.3.0", "try again later (simulated)")),
        "busy": Behaviour(at_recipient=SmtpReply(421, "4.3.2", "too busy, closing (simulated)")),
        "rejected": Behaviour(after_data=SmtpReply(554, "5.7.1", "message refused (simulated)")),
        "silent": Behaviour(wait=timedelta(minutes=15), hangs_up=True),
        "slow": Behaviour(wait=timedelta(seconds=5)),
    }
)


def name_of(address: str) -> str:
    """Return the name of a simulator address, or "" for an ordinary address."""
    local, _, domain = address.lower().rpartition("@")
    return local.partition("+")[0] if domain == SIMULATOR_DOMAIN else ""


def behaviour_for(addresses: Iterable[str], behaviours: Mapping[str, Behaviour]) -> Behaviour:
    """Return the behaviour for a message to these addresses."""
    names = {name_of(address) for address in addresses}
    return next((behaviours[name] for name in behaviours if name in names), DEFAULT_BEHAVIOUR)
