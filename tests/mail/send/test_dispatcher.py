"""Account senders are created for the mail of an account, and closed when idle."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import cast
from uuid import UUID

import pytest

from mailqueue.db.link import Link
from mailqueue.mail.message.tracking import EmailTracking
from mailqueue.mail.model import Ending, LoadedEmail
from mailqueue.mail.send.begun import BegunEmails
from mailqueue.mail.send.context import SendAccount
from mailqueue.mail.send.dispatcher import MAX_STALLED_EMAILS, EmailDispatcher
from mailqueue.mail.send.load import EmailLoader
from mailqueue.senders.model import MailDefaults
from tests.mail.claims import SENDER, claimed, loaded
from tests.mail.send.scripted import AWAY, RecordedContext, ScriptedServer, until

pytestmark = pytest.mark.anyio


@dataclass
class Accounts:
    """Accounts that all lead to one server; `read` lists those that were read."""

    server: ScriptedServer
    wants_tags: bool = False
    read: list[int] = field(default_factory=list)
    lines: EmailDispatcher | None = None

    async def find(self, account_id: int) -> SendAccount:
        self.read.append(account_id)
        return SendAccount(
            account_id,
            1,
            MailDefaults(SENDER),
            4,
            timedelta(0),
            self.server,
            wants_tags=self.wants_tags,
        )

    async def tags(self, _: Sequence[UUID]) -> Mapping[UUID, tuple[str, ...]]:
        assert self.lines is not None
        self.lines.drop_idle()  # as may happen while the database is asked
        return {}


def dispatcher_for(accounts: Accounts, recorded: RecordedContext) -> EmailDispatcher:
    accounts.lines = EmailDispatcher(
        recorded.context(),
        accounts.find,
        read_tags=accounts.tags,
        loader=EmailLoader(cast("Link", None), EmailTracking(), BegunEmails()),
    )
    return accounts.lines


async def test_accounts_without_mail_are_forgotten_and_read_again() -> None:
    recorded, accounts = RecordedContext(idle_s=0.01), Accounts(ScriptedServer())
    lines = dispatcher_for(accounts, recorded)
    for account in range(3):
        await lines.dispatch([loaded(email=claimed(assigned_to=account))])
    await until(lambda: len(recorded.settled) == 3)
    await until(lambda: all(line.is_idle for line in lines._by_account.values()))

    lines.drop_idle()

    assert lines._by_account == {}
    await lines.dispatch([loaded(email=claimed(assigned_to=1))])
    await until(lambda: len(recorded.settled) == 4)
    assert accounts.read == [0, 1, 2, 1]
    await lines.close()


async def test_no_line_with_mail_or_a_connection_is_forgotten() -> None:
    recorded, server = RecordedContext(), ScriptedServer()
    lines = dispatcher_for(Accounts(server), recorded)
    server.gate.clear()
    await lines.dispatch([loaded(email=claimed(assigned_to=1)) for _ in range(3)])

    lines.drop_idle()

    assert len(lines._by_account) == 1
    server.gate.set()
    await until(lambda: len(recorded.settled) == 3)
    await lines.close()


async def test_mail_for_a_server_that_failed_last_keeps_no_other_from_coming() -> None:
    """It is claimed again and again while the server hangs."""
    recorded, server = RecordedContext(), ScriptedServer(opens=[AWAY])
    lines = dispatcher_for(Accounts(server), recorded)
    await lines.dispatch([loaded(email=claimed(assigned_to=1))])
    await until(lambda: recorded.failures == ["connection refused"])
    server.gate.clear()  # now it says nothing at all

    await lines.dispatch([loaded(email=claimed(assigned_to=1)) for _ in range(50)])

    assert len(lines._by_account[1].waiting) == 50
    assert lines.waiting().emails == 0
    server.gate.set()
    await lines.close()


async def test_a_greeting_does_not_end_the_doubt_about_a_server_that_answers_no_mail() -> None:
    recorded, server = RecordedContext(), ScriptedServer(hangs=9)
    lines = dispatcher_for(Accounts(server), recorded)
    await lines.dispatch([loaded(email=claimed(assigned_to=1)) for _ in range(50)])
    line = lines._by_account[1]
    await until(lambda: server.groups == [1])
    recorded.clock.move(recorded.unproven_stall_s + 1)

    line.check_stalls()  # one more connection finds out whether it was that mail's fault

    await until(lambda: server.groups == [1, 1])
    assert line._replies.silent_s() == 0
    assert len(line.waiting) == 48
    assert lines.waiting().emails == 0
    await lines.abandon(within=0)


async def test_mail_that_waits_for_silent_servers_is_bounded_for_all_of_them_together() -> None:
    recorded, server = RecordedContext(), ScriptedServer(hangs=9)
    lines = dispatcher_for(Accounts(server), recorded)
    for account in range(4):
        mails = [loaded(email=claimed(assigned_to=account)) for _ in range(MAX_STALLED_EMAILS // 2)]
        await lines.dispatch(mails)
    await until(lambda: len(server.groups) == 4)
    recorded.clock.move(recorded.unproven_stall_s / 2)

    for line in lines._by_account.values():
        line.check_stalls()

    assert lines.waiting().emails == MAX_STALLED_EMAILS - 4  # those under way wait no more
    await lines.abandon(within=0)


async def test_mail_never_goes_to_a_line_that_was_forgotten_meanwhile() -> None:
    recorded, accounts = RecordedContext(), Accounts(ScriptedServer(), wants_tags=True)
    lines = dispatcher_for(accounts, recorded)

    await lines.dispatch([loaded(email=claimed(assigned_to=1))])

    assert [line.is_idle for line in lines._by_account.values()] == [False]
    await until(lambda: len(recorded.settled) == 1)
    await lines.close()


@pytest.mark.deep
async def test_emails_that_are_dispatched_together_have_one_sender_for_their_account() -> None:
    recorded, accounts = RecordedContext(), Accounts(ScriptedServer())
    lines = dispatcher_for(accounts, recorded)
    genuine = accounts.find

    async def find(account_id: int) -> SendAccount:
        await asyncio.sleep(0.01)
        return await genuine(account_id)

    lines._find_account = find

    await asyncio.gather(
        *(lines.dispatch([loaded(email=claimed(assigned_to=1))]) for _ in range(3))
    )

    assert accounts.read == [1, 1, 1]
    assert not lines._closing
    await until(lambda: len(recorded.settled) == 3)
    assert recorded.endings() == [Ending.SENT] * 3
    await lines.close()


def paced(count: int, *, after: float) -> tuple[list[LoadedEmail], dict[UUID, float]]:
    """Return emails that are to be sent so many seconds after 1970, and when."""
    mails = [loaded(email=claimed(assigned_to=1)) for _ in range(count)]
    return mails, {mail.claim.id: after for mail in mails}


async def test_mail_for_which_a_rate_is_kept_is_sent_when_its_time_has_come() -> None:
    recorded, accounts = RecordedContext(), Accounts(ScriptedServer())
    lines = dispatcher_for(accounts, recorded)
    releasing = asyncio.create_task(lines.pacing.release_forever())
    late, when_late = paced(1, after=0.05)
    mails, when = paced(2, after=0.02)

    await lines.dispatch(late, send_at=when_late, claimed_at=0.0)
    await lines.dispatch([*mails, loaded(email=claimed(assigned_to=1))], send_at=when)

    assert (lines.waiting().emails >= 3, lines.waiting().is_idle) == (True, False)
    await until(lambda: len(recorded.settled) == 4)
    at_once, *others = [one.id for one in recorded.settled]
    assert at_once not in (when | when_late)
    assert others == [*when, *when_late]
    assert lines.waiting().is_idle
    releasing.cancel()
    await lines.close()


async def test_mail_that_waits_for_its_time_goes_back_when_the_worker_stops() -> None:
    recorded, accounts = RecordedContext(), Accounts(ScriptedServer())
    lines = dispatcher_for(accounts, recorded)
    mails, when = paced(3, after=60.0)
    await lines.dispatch(mails, send_at=when, claimed_at=0.0)

    await lines.close()

    assert recorded.endings() == [Ending.DEFER] * 3
    assert {one.id for one in recorded.settled} == set(when)
    assert all(one.wait is None for one in recorded.settled), "due again at once"


async def test_mail_that_waits_for_its_time_is_dropped_when_the_worker_is_lost() -> None:
    recorded, accounts = RecordedContext(), Accounts(ScriptedServer())
    lines = dispatcher_for(accounts, recorded)
    mails, when = paced(3, after=60.0)
    await lines.dispatch(mails, send_at=when, claimed_at=0.0)

    await lines.abandon(within=0.0)

    assert (lines.waiting().is_idle, recorded.settled) == (True, [])


@pytest.mark.deep
async def test_a_claim_whose_answer_was_slow_delays_no_mail() -> None:
    """The clocks are compared by the fastest of the last answers."""
    recorded, accounts = RecordedContext(), Accounts(ScriptedServer())
    lines = dispatcher_for(accounts, recorded)
    releasing = asyncio.create_task(lines.pacing.release_forever())
    now = asyncio.get_running_loop().time() - 1000  # the database's clock
    fast, when_fast = paced(1, after=now + 0.02)
    slow, when_slow = paced(1, after=now + 0.02)

    await lines.dispatch(fast, send_at=when_fast, claimed_at=now)
    await lines.dispatch(slow, send_at=when_slow, claimed_at=now - 3600)

    await until(lambda: len(recorded.settled) == 2)
    releasing.cancel()
    await lines.close()
