"""Measures for how long a server has not replied, over all connections of one account sender."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from mailqueue.ports.transport import SendAttempt


@dataclass(slots=True)
class ActiveClock:
    """A clock in seconds that runs only while this process could have received something.

    It advances by the interval at which it is advanced, however long that took: time in which the
    process was stopped or starved is not the server's delay.
    """

    seconds: float = 0.0


@dataclass(slots=True, eq=False)
class PendingReply:
    """One wait for the server, and the attempts that wait with it."""

    attempts: Collection[SendAttempt]
    asked_at: float
    received_at: float


class StallDetector:
    """The pending replies of one account sender, and when the last reply came."""

    def __init__(self, clock: ActiveClock) -> None:
        self._clock = clock
        self.pending: list[PendingReply] = []  # oldest first
        self.are_usual = False  # the server has answered, and nothing has gone wrong since
        self.received_at = 0.0  # when the last reply came

    @contextmanager
    def waiting(self, attempts: Collection[SendAttempt] = ()) -> Iterator[PendingReply]:
        """Count the block as a wait for the server."""
        now = self._clock.seconds
        reply = PendingReply(attempts, asked_at=now, received_at=now)
        self.pending.append(reply)
        try:
            yield reply
        finally:
            self.pending.remove(reply)

    def silent_s(self) -> float:
        """Return the seconds since the last reply; 0 while nothing is pending."""
        if not self.pending:
            return 0.0
        return self._clock.seconds - max(self.received_at, self.pending[0].asked_at)
