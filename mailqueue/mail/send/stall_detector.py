"""Measures for how long a server has not replied, over all connections of one account sender."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from mailqueue.ports.transport import SendAttempt


class ActiveClock:
    """A clock in seconds that runs only while this process could have received something.

    Time in which the process was stopped or starved is not the server's delay.
    """

    def __init__(self) -> None:
        self._seconds = 0.0

    def tick(self, seconds: float) -> None:
        """Advance by `seconds`, however long they took."""
        self._seconds += seconds

    def seconds(self) -> float:
        """Return the seconds counted so far."""
        return self._seconds


class PendingReply:
    """One wait for the server, and the attempts that wait with it."""

    __slots__ = ("asked_at", "attempts", "received_at")

    def __init__(self, attempts: Collection[SendAttempt], asked_at: float) -> None:
        self.attempts = attempts  # the caller removes those that were answered
        self.asked_at = self.received_at = asked_at


class StallDetector:
    """The pending replies of one account sender, and when the last reply came."""

    def __init__(self, now: Callable[[], float]) -> None:
        """Start with nothing pending; `now` returns the seconds of an `ActiveClock`."""
        self._now = now
        self._pending: list[PendingReply] = []
        self._received_at = 0.0

    @contextmanager
    def waiting(self, attempts: Collection[SendAttempt] = ()) -> Iterator[PendingReply]:
        """Count the block as a wait for the server."""
        reply = PendingReply(attempts, self._now())
        self._pending.append(reply)  # oldest first
        try:
            yield reply
        finally:
            self._pending.remove(reply)

    def __len__(self) -> int:
        """Return the number of pending replies."""
        return len(self._pending)

    def received(self, reply: PendingReply) -> None:
        """Record that the server has sent something for this wait."""
        self._received_at = reply.received_at = self._now()

    def silent_s(self) -> float:
        """Return the seconds since the last reply; 0 while nothing is pending."""
        if not self._pending:
            return 0.0
        return self._now() - max(self._received_at, self._pending[0].asked_at)

    def overdue(self, longest_s: float) -> list[PendingReply]:
        """Return the waits in which nothing was received for more than `longest_s` seconds."""
        late = self._now() - longest_s
        return [reply for reply in self._pending if reply.received_at < late]
