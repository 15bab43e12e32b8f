"""The state of mail as a model expects it, and the statements that begin and look again."""

from dataclasses import dataclass
from uuid import UUID

from mailqueue.mail.model import ClaimedEmail

CLEAN = (
    "SET LOCAL mailqueue.by_hand = on;"
    " TRUNCATE mailqueue.email_queue, mailqueue.email_history, mailqueue.email_recipients,"
    " mailqueue.lane_signals, mailqueue.accepted_days, mailqueue.suppressions,"
    " mailqueue.unsubscribe_list, mailqueue.bounce_list, mailqueue.workers,"
    " mailqueue.send_intents, mailqueue.limit_days;"
    " UPDATE mailqueue.limit_counters SET sent = 0, reserved = 0;"
    " UPDATE mailqueue.lanes SET blocked_until = 'infinity', blocked_reason = 'empty'"
)
LOOK_AGAIN = (
    "UPDATE mailqueue.lanes SET blocked_until = clock_timestamp(), probed_at = '-infinity'"
    " WHERE blocked_until IS NOT NULL"
)


@dataclass
class ExpectedMail:
    """The expected state of one mail."""

    id: UUID
    address: str
    recipients: int
    delivery: str
    status: str = "pending"
    unknowns: int = 0
    is_cancelled: bool = False
    claim: ClaimedEmail | None = None
    worker: int = 0
    is_marked: bool = False
    lost_claim: int | None = None
