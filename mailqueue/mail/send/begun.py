"""Notes which emails are being handled, in memory that the parent process reads after a crash."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from uuid import UUID

from mailqueue.mail.model import ClaimedEmail
from mailqueue.queue.in_progress import InProgress

QUEUE = "email_queue"


class BegunEmails:
    """The emails of one worker from the begin of their handling to their outcomes."""

    def __init__(self, in_progress: InProgress | None = None) -> None:
        self._in_progress = in_progress
        self._slots: dict[tuple[UUID, int], int] = {}

    def begin(self, email: ClaimedEmail) -> int:
        """Note that an email is being handled; return its slot."""
        if self._in_progress is None:
            return -1
        mail = (email.id, email.claim_no)
        slot = self._slots.get(mail)
        if slot is None:
            slot = self._in_progress.begin(QUEUE, email.id, email.claim_no)
            self._slots[mail] = slot
        return slot

    def step(self, email: ClaimedEmail | None) -> None:
        """Note which email keeps the event loop from turning; None if none does any more."""
        if self._in_progress is None:
            return
        if email is None:
            self._in_progress.end_step()
        else:
            self._in_progress.begin_step(self.begin(email))

    @contextmanager
    def all_of(self, emails: Iterable[ClaimedEmail]) -> Iterator[None]:
        """Note that emails are handled together, during a block."""
        mails = list[tuple[UUID, int]]()
        for email in emails:
            self.begin(email)
            mails.append((email.id, email.claim_no))
        try:
            yield
        finally:
            for mail in mails:
                self.end(*mail)

    def end(self, email_id: UUID, claim_no: int) -> None:
        """Note the outcome of an email."""
        if self._in_progress is not None:
            slot = self._slots.pop((email_id, claim_no), None)
            if slot is not None:
                self._in_progress.end(slot)

    def end_all(self) -> None:
        """Forget all emails, when the worker ends in good order."""
        for mail in list(self._slots):
            self.end(*mail)
