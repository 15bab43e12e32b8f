"""Isolate: what a transport raises is the outcome of the emails it concerns."""

from collections.abc import Callable, Sequence

import pytest

from mailqueue.mail.model import Ending
from mailqueue.mail.send.prepare import build_attempts
from mailqueue.ports.transport import Report, SendAttempt
from tests.mail.claims import loaded
from tests.mail.send.office import Office, Server, introduce, line_to, until

pytestmark = pytest.mark.anyio


class Unwilling(Server):
    """Answers one email, and raises before the next is handed over."""

    async def send(
        self, mails: Sequence[SendAttempt], report: Report, *, may_finish: Callable[[], bool]
    ) -> None:
        assert may_finish()
        report(mails[0], self.verdict, 1)
        raise KeyError("bug")


async def test_a_fault_of_ours_while_sending_leaves_the_fate_unknown() -> None:
    """Window: nobody can say how far it came."""
    office, server = Office(), Server(fails=KeyError("bug"))
    async with line_to(server, office) as line:
        line.add([loaded(), loaded()])
        await until(lambda: len(office.settled) == 2)

    assert office.endings() == [Ending.UNKNOWN] * 2


async def test_a_fault_of_ours_before_anything_was_handed_over_is_the_first_emails_alone() -> None:
    """Isolate: it is retried by its schedule; the others go back and spend no attempt."""
    office = Office()
    mails = [loaded() for _ in range(3)]
    async with line_to(Server(), office, most=1) as line:
        await introduce(line, office)
        attempts = [
            one
            for one in build_attempts(mails, account=line.account, context=office.desk())
            if isinstance(one, SendAttempt)
        ]

        await line._send(Unwilling(), attempts)

    assert [(one.ending, one.reason, one.spent) for one in office.settled[1:]] == [
        (Ending.SENT, None, 1),
        (Ending.RETRY, "KeyError while sending", 0),
        (Ending.DEFER, "KeyError while sending another email", 0),
    ]
    assert [one.id for one in office.settled[1:]] == [mail.claim.id for mail in mails]


async def test_a_verdict_that_cannot_be_read_is_unknown_for_its_email_alone() -> None:
    office, server = Office(), Server()
    async with line_to(server, office, most=1) as line:
        await introduce(line, office)
        server.odd = 2
        line.add([loaded() for _ in range(4)])
        await until(lambda: len(office.settled) == 5)

    assert office.endings() == [
        Ending.SENT,
        *(Ending.UNKNOWN if number == 2 else Ending.SENT for number in range(2, 6)),
    ]


async def test_a_transport_that_raises_while_it_connects_makes_its_account_rest() -> None:
    office, server = Office(), Server(raises=RuntimeError("bug"))
    async with line_to(server, office) as line:
        line.add([loaded(), loaded()])
        await until(lambda: len(office.settled) == 2)

    assert office.endings() == [Ending.DEFER] * 2
    assert office.troubles == ["RuntimeError while connecting"]
