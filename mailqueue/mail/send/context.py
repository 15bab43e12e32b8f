"""What an account sender works with: its account, and what all senders of a process share."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from mailqueue.core.verdict import Rejected
from mailqueue.dkim.signer import Signers
from mailqueue.mail.message.attachments import AttachmentLoader
from mailqueue.mail.message.build import SkeletonCache
from mailqueue.mail.send.concurrency import Slots
from mailqueue.mail.send.large import LargeBuilds
from mailqueue.mail.send.settler import EmailSettler
from mailqueue.mail.send.stall_detector import ActiveClock
from mailqueue.ports.transport import Transport
from mailqueue.queue.turns import SharedTurns
from mailqueue.senders.model import MailDefaults
from mailqueue.tracking.tokens import Seals


@dataclass(frozen=True, slots=True)
class SendWorkerSettings:
    """Limits of one process: emails in flight, emails a claim, and the longest drain on stop."""

    in_flight: int = 64
    batch: int = 200
    drain: timedelta = timedelta(seconds=30)
    is_alone: bool = False
    """Send the emails whose worker stopped before, one by one, until none is due."""


@dataclass(frozen=True, slots=True)
class SendAccount:
    """The settings and the transport of one sender account."""

    id: int
    revision: int
    identity: MailDefaults
    max_connections: int
    send_delay: timedelta
    transport: Transport
    signers: Signers = field(default_factory=Signers)
    wants_tags: bool = False
    returns: Seals | None = None  # signs return paths; None: bounces go where the project says


@dataclass(frozen=True, slots=True)
class SendContext:
    """What all account senders of a process share."""

    slots: Slots
    settler: EmailSettler
    skeleton_cache: SkeletonCache
    large_builds: LargeBuilds
    attachments: AttachmentLoader
    may_finish: Callable[[], bool]
    account_answered: Callable[[int], None]  # its server accepts connections
    account_failed: Callable[[int, Rejected], None]  # it does not, or it names a limit
    # An email to this address failed because of the account, or for an unknown reason.
    email_failed: Callable[[int, Rejected, str, UUID], None]
    clock: ActiveClock
    is_alone: bool = False  # its emails have stopped a worker before
    idle_s: float = 20.0  # a connection without mail is closed after this time
    unresponsive_s: float = 0.25  # a server silent for this long delays no other account's mail
    stall_s: float = 5.0  # mail that waits for a server silent for this long returns to the queue
    unproven_stall_s: float = 1.0  # the same for a server that has not answered a mail yet
    turns: SharedTurns = field(default_factory=SharedTurns)
