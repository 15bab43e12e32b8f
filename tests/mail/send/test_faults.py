"""Isolate: what a transport raises is the outcome of the emails it concerns."""

from collections.abc import Callable, Sequence

import pytest

from mailqueue.core.verdict import Fault, Rejected, Stage
from mailqueue.mail.model import Ending, SendOutcome
from mailqueue.mail.send.account_sender import AccountSender
from mailqueue.mail.send.hand_over import hand_over
from mailqueue.mail.send.prepare import build_attempts
from mailqueue.ports.transport import Report, SendAttempt
from tests.mail.claims import loaded
from tests.mail.send.scripted import RecordedContext, ScriptedServer, introduce, sender_to, until

pytestmark = pytest.mark.anyio


class Unwilling(ScriptedServer):
    """Replies to one email, and raises before the next is handed over."""

    async def send(
        self, mails: Sequence[SendAttempt], report: Report, *, may_finish: Callable[[], bool]
    ) -> None:
        assert may_finish()
        report(mails[0], self.verdict, 1)
        raise KeyError("bug")


class Refusing(list[str]):
    """Keeps the first entry and raises at every other."""

    def append(self, entry: str) -> None:
        if self:
            raise KeyError("bug")
        super().append(entry)


class OneRequest(ScriptedServer):
    """Takes all emails in one request, and reports all of them but the last `silent`."""

    silent: int = 0

    async def send(
        self, mails: Sequence[SendAttempt], report: Report, *, may_finish: Callable[[], bool]
    ) -> None:
        assert may_finish()
        for mail in mails[: len(mails) - self.silent]:
            report(mail, self.verdict, 1)


async def hand_over_by(
    line: AccountSender, server: ScriptedServer, attempts: Sequence[SendAttempt]
) -> None:
    await hand_over(
        attempts,
        server,
        replies=line._replies,
        context=line._context,
        on_verdict=line._note_verdict,
    )


async def sent_by(
    server: ScriptedServer, recorded: RecordedContext, count: int
) -> list[tuple[Ending, str | None]]:
    """Send emails in one group; return what each was settled as, in order."""
    async with sender_to(ScriptedServer(), recorded, max_connections=1) as line:
        await introduce(line, recorded)
        mails = [loaded() for _ in range(count)]
        attempts = [
            one
            for one in build_attempts(mails, account=line.account, context=recorded.context())
            if isinstance(one, SendAttempt)
        ]
        await hand_over_by(line, server, attempts)
        by_id = {one.id: (one.ending, one.reason) for one in recorded.settled}
        assert len(recorded.settled) == len(by_id)
        return [by_id[mail.claim.id] for mail in mails if mail.claim.id in by_id]


async def test_a_fault_of_ours_at_one_reply_leaves_the_others_of_its_request_in_doubt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Window: the request handed over all of them, so none may go back as if it had not."""
    recorded = RecordedContext()
    settle, faults = recorded.settler.settle, [KeyError("bug")]

    def fails_once(outcome: SendOutcome) -> None:
        if faults and len(recorded.settled) == 2:
            raise faults.pop()
        settle(outcome)

    monkeypatch.setattr(recorded.settler, "settle", fails_once)

    assert await sent_by(OneRequest(), recorded, 4) == [
        (Ending.SENT, None),  # and nothing of the second
        (Ending.UNKNOWN, "KeyError while sending"),
        (Ending.UNKNOWN, "KeyError while sending"),
    ]


async def test_an_account_that_cannot_be_noted_takes_no_verdict_from_its_emails() -> None:
    """Isolate: each email has the outcome that its verdict says."""
    recorded = RecordedContext()
    recorded.failures = Refusing()
    server = OneRequest(verdict=Rejected(Fault.RATE_LIMITED, "429", "slow down", Stage.DOT))

    assert await sent_by(server, recorded, 3) == [(Ending.DEFER, "slow down")] * 3


async def test_an_account_is_proven_by_the_next_answer_if_one_could_not_be_noted() -> None:
    recorded = RecordedContext()
    recorded.failures = Refusing(["an entry, so that the next raises"])
    async with sender_to(ScriptedServer(), recorded, max_connections=1) as line:
        await introduce(line, recorded)
        assert line.slots.is_unproven

        recorded.failures = []
        line.add([loaded()])
        await until(lambda: len(recorded.settled) == 2)

        assert not line.slots.is_unproven
    assert recorded.endings() == [Ending.SENT] * 2


async def test_an_email_that_its_channel_forgets_is_in_doubt() -> None:
    """Window: it is neither lost nor sent again as if it had not been handed over."""
    server = OneRequest()
    server.silent = 1

    assert await sent_by(server, RecordedContext(), 3) == [
        (Ending.SENT, None),
        (Ending.SENT, None),
        (Ending.UNKNOWN, "RuntimeError while sending"),
    ]


async def test_an_error_while_sending_leaves_the_outcome_unknown() -> None:
    """Window: it is unknown how far the email came."""
    recorded, server = RecordedContext(), ScriptedServer(fails=KeyError("bug"))
    async with sender_to(server, recorded) as line:
        line.add([loaded(), loaded()])
        await until(lambda: len(recorded.settled) == 2)

    assert recorded.endings() == [Ending.UNKNOWN] * 2


async def test_a_fault_of_ours_before_anything_was_handed_over_is_the_first_emails_alone() -> None:
    """Isolate: it is retried by its schedule; the others go back and spend no attempt."""
    recorded = RecordedContext()
    mails = [loaded() for _ in range(3)]
    async with sender_to(ScriptedServer(), recorded, max_connections=1) as line:
        await introduce(line, recorded)
        attempts = [
            one
            for one in build_attempts(mails, account=line.account, context=recorded.context())
            if isinstance(one, SendAttempt)
        ]

        await hand_over_by(line, Unwilling(), attempts)

    assert [(one.ending, one.reason, one.spent) for one in recorded.settled[1:]] == [
        (Ending.SENT, None, 1),
        (Ending.RETRY, "KeyError while sending", 0),
        (Ending.DEFER, "KeyError while sending another email", 0),
    ]
    assert [one.id for one in recorded.settled[1:]] == [mail.claim.id for mail in mails]


async def test_a_verdict_that_cannot_be_read_is_unknown_for_its_email_alone() -> None:
    recorded, server = RecordedContext(), ScriptedServer()
    async with sender_to(server, recorded, max_connections=1) as line:
        await introduce(line, recorded)
        server.odd = 2
        line.add([loaded() for _ in range(4)])
        await until(lambda: len(recorded.settled) == 5)

    assert recorded.endings() == [
        Ending.SENT,
        *(Ending.UNKNOWN if number == 2 else Ending.SENT for number in range(2, 6)),
    ]


async def test_a_transport_that_raises_while_it_connects_makes_its_account_rest() -> None:
    recorded, server = RecordedContext(), ScriptedServer(raises=RuntimeError("bug"))
    async with sender_to(server, recorded) as line:
        line.add([loaded(), loaded()])
        await until(lambda: len(recorded.settled) == 2)

    assert recorded.endings() == [Ending.DEFER] * 2
    assert recorded.failures == ["RuntimeError while connecting"]
