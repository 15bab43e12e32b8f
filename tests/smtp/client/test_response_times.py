"""The response time of an email is that of the server, not of the emails before it."""

from dataclasses import dataclass

import pytest

from mailqueue.core.verdict import Verdict
from mailqueue.ports.transport import SendAttempt
from mailqueue.smtp.client.batch import EnvelopeBatch
from mailqueue.smtp.client.envelope import Extensions
from mailqueue.smtp.client.record import OpeningRecord
from mailqueue.smtp.client.replies import Reply
from mailqueue.smtp.client.transaction import MailTransaction
from tests.smtp.client.sending import mails

pytestmark = pytest.mark.anyio
ANSWERS = (Reply(250, b"ok"), Reply(250, b"ok"), Reply(354, b"go"), Reply(250, b"queued"))


@dataclass(slots=True)
class SetClock:
    """A clock of an event loop that the test sets."""

    now: float = 0.0

    def time(self) -> float:
        return self.now


async def test_an_envelope_that_was_written_ahead_waits_at_no_ones_expense(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times: list[int] = []
    clock = SetClock()

    def report(_mail: SendAttempt, _verdict: Verdict, took_ms: int) -> None:
        times.append(took_ms)

    batch = await EnvelopeBatch.of(mails(3), report, Extensions(), OpeningRecord((), 0.0))
    monkeypatch.setattr(batch, "_loop", clock)
    # The second is written with the body of the first; the third after a pause.
    for begun, answered in ((1.0, 6.0), (1.5, 6.25), (9.0, 9.5)):
        planned = batch.take()
        assert planned is not None
        turn = MailTransaction(planned, grouped=True, started=begun)
        for reply in ANSWERS:
            turn.handed_over = reply.code == 250
            turn.take(reply)
        clock.now = answered
        batch.report_answered([turn])

    assert times == [5_000, 250, 500]
