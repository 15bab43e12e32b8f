"""Knows for how long a server that was asked something has said nothing, on any connection."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from mailqueue.mail.send.outcomes import Handed


class Awake:
    """Counts the seconds in which this process could have heard something.

    Not those in which it was stopped, or had no turn: then it was not the server that was silent.
    """

    def __init__(self) -> None:
        self._seconds = 0.0

    def tick(self, seconds: float) -> None:
        """Note that so many more seconds are over, however long they took."""
        self._seconds += seconds

    def seconds(self) -> float:
        """Return the seconds so far."""
        return self._seconds


class Question:
    """One wait for the server, and the mails that wait with it."""

    __slots__ = ("asked_at", "heard_at", "mails")

    def __init__(self, mails: Collection[Handed], asked_at: float) -> None:
        self.mails = mails  # the caller takes out what is answered
        self.asked_at = self.heard_at = asked_at


class Silence:
    """The questions of one line that are open, and when its server last said something."""

    def __init__(self, now: Callable[[], float]) -> None:
        """Begin; `now` gives seconds in which this process could have heard something."""
        self._now = now
        self._open: list[Question] = []
        self._heard_at = 0.0

    @contextmanager
    def asking(self, mails: Collection[Handed] = ()) -> Iterator[Question]:
        """Wait for the server in the block."""
        question = Question(mails, self._now())
        self._open.append(question)  # oldest first
        try:
            yield question
        finally:
            self._open.remove(question)

    def __len__(self) -> int:
        """Return how many questions are open."""
        return len(self._open)

    def heard(self, question: Question) -> None:
        """Note that the server has said something to this question."""
        self._heard_at = question.heard_at = self._now()

    def seconds(self) -> float:
        """Return how long it has been silent; 0 while it is asked nothing."""
        if not self._open:
            return 0.0
        return self._now() - max(self._heard_at, self._open[0].asked_at)

    def unanswered(self, longest: float) -> list[Question]:
        """Return the questions without a word of an answer for more than `longest` seconds."""
        late = self._now() - longest
        return [question for question in self._open if question.heard_at < late]
