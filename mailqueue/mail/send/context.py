"""What a sender line works with: its account, and the desk it shares with the lines beside it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from mailqueue.core.verdict import Rejected
from mailqueue.dkim.signer import Signers
from mailqueue.mail.message.attachments import Files
from mailqueue.mail.message.build import Skeletons
from mailqueue.mail.send.concurrency import Slots
from mailqueue.mail.send.settler import Scribe
from mailqueue.ports.transport import Transport
from mailqueue.senders.model import Identity
from mailqueue.tracking.tokens import Seals


@dataclass(frozen=True, slots=True)
class Account:
    """What a line needs to know of its sender account."""

    id: int
    revision: int
    identity: Identity
    max_connections: int
    send_delay: timedelta
    transport: Transport
    signers: Signers = field(default_factory=Signers)
    wants_tags: bool = False
    returns: Seals | None = None  # signs return paths; None: bounces go where the project says


@dataclass(frozen=True, slots=True)
class Desk:
    """What all lines of a process share."""

    slots: Slots
    scribe: Scribe
    skeletons: Skeletons
    files: Files
    may_finish: Callable[[], bool]
    answered: Callable[[int], None]  # the account's server accepts connections
    failed: Callable[[int, Rejected], None]  # it did not, or it names a limit of the account
    # A mail to this address failed for reasons of the account's, or for reasons nobody knows.
    blamed: Callable[[int, Rejected, str, UUID], None]
    now: Callable[[], float]  # seconds in which this process could have heard a server
    idle_s: float = 20.0  # a connection without mail is closed after it
    doubt_s: float = 0.25  # without a word for so long, it holds up no other server's mail
    stall_s: float = 5.0  # without a word from a server for so long, what waits for it goes back
    stranger_s: float = 1.0  # the same for a server that has not answered a mail here yet
