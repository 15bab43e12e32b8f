"""Accept, Fence, Window, Limit, Suppress, Books: operations on mail in any order.

A model keeps in plain words what the database should hold; after each step both are compared.
"""

import asyncio
from collections import Counter
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any, TypeVar
from uuid import UUID

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import ClaimedEmail, Ending, LogStatus, MarkVerdict
from mailqueue.queue import store as kernel
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.invariants.expected import CLEAN, LOOK_AGAIN, ExpectedMail
from tests.mail.claim.steps import SILENCE, claim, counted, difference, mark, opened, settle

T = TypeVar("T")
EXAMPLES = 25
WORKERS = st.integers(0, 1)
CHOICE = st.randoms(use_true_random=False)


class Queue(RuleBasedStateMachine):
    """Two workers, a rescuer, producers and operators, one step at a time over two sessions."""

    database: DatabaseSettings

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.stack = AsyncExitStack()
        self.mails: dict[UUID, ExpectedMail] = {}
        self.sent = 0  # recipients that count against the limit
        self.late: list[ClaimedEmail] = []  # claims of lost workers
        self.suppressed: set[str] = set()
        self.count = 0
        self.do(self.begin())

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    async def begin(self) -> None:
        self.conns = await self.stack.enter_async_context(opened(self.database, 2))
        await self.conn.execute(CLEAN)
        self.account = await make.scalar(self.conn, "SELECT id FROM mailqueue.sender_accounts")
        if self.account is None:
            self.account = await make.sender_account(self.conn, daily_limit=12)
        self.limit = 12
        self.workers = [await make.worker(self.conn), await make.worker(self.conn)]

    @property
    def conn(self) -> Conn:
        return self.conns[0]

    def teardown(self) -> None:
        self.do(self.stack.aclose())
        self.runner.close()

    def is_any(self, *statuses: str) -> bool:
        return any(mail.status in statuses for mail in self.mails.values())

    def busy(self, who: int) -> int:
        """Return this worker, or the other where only that one holds mail."""
        return who if self.held_by(self.workers[who]) else 1 - who

    def held_by(self, worker: int) -> list[ExpectedMail]:
        return [m for m in self.mails.values() if m.status == "assigned" and m.worker == worker]

    def finish(self, mail: ExpectedMail, status: str) -> None:
        mail.status, mail.claim, mail.is_marked = status, None, False

    @initialize()
    def begin_with_mail(self) -> None:
        self.enqueue(count=3, delivery="resend", several=False)

    @rule(
        count=st.integers(1, 4), delivery=st.sampled_from(["resend", "hold"]), several=st.booleans()
    )
    def enqueue(self, count: int, delivery: str, several: bool) -> None:
        for _ in range(count):
            self.count += 1
            address = f"person{self.count}@example.com"
            copies = {"cc": [f"copy{self.count}@example.com"]} if several else {}
            email = self.do(
                make.queued_email(self.conn, recipient_email=address, delivery=delivery, **copies)
            )
            self.mails[email] = ExpectedMail(email, address, 2 if several else 1, delivery)

    @precondition(lambda self: self.is_any("pending"))
    @rule(who=WORKERS, limit=st.integers(1, 8), marks=st.booleans(), chance=CHOICE)
    def claim(self, who: int, limit: int, marks: bool, chance: Any) -> None:
        worker, conn = self.workers[who], self.conns[who]
        self.do(conn.execute(LOOK_AGAIN))
        for email in self.do(claim(conn, worker, limit=limit)):
            mail = self.mails[email.id]
            assert mail.status == "pending", "claimed what was not waiting"
            assert email.recipients == mail.recipients
            mail.status, mail.claim, mail.worker = "assigned", email, worker
        if marks and self.held_by(worker):
            self.mark(who, chance)

    @precondition(lambda self: self.is_any("assigned"))
    @rule(who=WORKERS, chance=CHOICE)
    def mark(self, who: int, chance: Any) -> None:
        who = self.busy(who)
        mine = self.held_by(self.workers[who])
        new = [m for m in mine if not m.is_marked and chance.random() < 0.7]
        claims = [m.claim for m in new if m.claim]
        before = [m.claim for m in mine if m.is_marked and m.claim]
        marks = self.do(mark(self.conns[who], self.workers[who], claims, opened=before))
        for mail in new:
            verdict = marks[mail.id].verdict
            if mail.is_cancelled:
                assert verdict is MarkVerdict.CANCELLED
            elif mail.address in self.suppressed and mail.recipients == 1:
                assert verdict is MarkVerdict.SUPPRESSED
            else:
                assert verdict is MarkVerdict.GO
            mail.is_marked = True

    @precondition(lambda self: self.is_any("assigned"))
    @rule(who=WORKERS, ending=st.sampled_from(Ending), chance=CHOICE)
    def settle(self, who: int, ending: Ending, chance: Any) -> None:
        who = self.busy(who)
        mine = self.held_by(self.workers[who])
        needs_mark = ending in (Ending.SENT, Ending.UNKNOWN, Ending.RETRY, Ending.FAILED)
        some = [m for m in mine if chance.random() < 0.6 and (m.is_marked or not needs_mark)]
        claims = [m.claim for m in some if m.claim]
        ids = {claim.id for claim in claims}  # what lost claims of these say comes beside it
        late = [email for email in self.late if email.id in ids or chance.random() < 0.3]
        expected = [email.id for email in late if not self.is_proof(email, ending)]
        group = [*late, *claims]
        chance.shuffle(group)
        spent = {Ending.UNKNOWN: {"spent": 2}}.get(ending, {})
        log = LogStatus.SENT if ending is Ending.SENT else None
        refused = self.do(
            settle(self.conns[who], group, ending, reason="r", wait=timedelta(0), log=log, **spent)
        )
        assert Counter(refused) == Counter(expected)
        for mail in some:
            self.settled(mail, ending)
        self.proven(late, expected)

    def settled(self, mail: ExpectedMail, ending: Ending) -> None:
        if ending in (Ending.SENT, Ending.UNKNOWN):
            self.sent += mail.recipients
        if ending is Ending.UNKNOWN:
            is_last = mail.delivery == "hold" or mail.unknowns > 0
            mail.unknowns += 1
            self.finish(mail, "held" if is_last else "pending")
        elif ending in (Ending.RETRY, Ending.DEFER):
            self.finish(mail, "cancelled" if mail.is_cancelled else "pending")
        else:
            self.finish(mail, ending.value)

    @precondition(lambda self: self.is_any("assigned"))
    @rule(who=WORKERS)
    def lose(self, who: int) -> None:
        who = self.busy(who)
        worker = self.workers[who]
        self.do(make.silent(self.conn, worker))
        assert self.do(kernel.rescue(self.conn, silence=SILENCE)) == len(self.held_by(worker))
        self.gave_back(worker)
        self.workers[who] = self.do(make.worker(self.conn))

    @precondition(lambda self: self.is_any("assigned"))
    @rule(who=WORKERS)
    def leave(self, who: int) -> None:
        who = self.busy(who)
        worker = self.workers[who]
        self.do(kernel.stop_worker(self.conns[who], worker))
        self.gave_back(worker)
        self.workers[who] = self.do(make.worker(self.conn))

    def gave_back(self, worker: int) -> None:
        for mail in self.held_by(worker):
            assert mail.claim is not None
            self.late.append(mail.claim)
            status = "pending"
            if mail.is_marked:
                self.sent += mail.recipients
                status = "held" if mail.delivery == "hold" or mail.unknowns else "pending"
                mail.unknowns += 1
                mail.lost_claim = mail.claim.claim_no
            self.finish(mail, status)

    def is_proof(self, late: ClaimedEmail, ending: Ending) -> bool:
        """Return whether a late outcome says what became of a mail in doubt."""
        mail = self.mails[late.id]
        is_in_doubt = mail.status in ("pending", "held") and mail.lost_claim == late.claim_no
        return is_in_doubt and ending is Ending.SENT

    def proven(self, late: list[ClaimedEmail], refused: list[UUID]) -> None:
        """Note the mails whose late outcomes, of those that were not refused, were proof."""
        for email, count in Counter(one.id for one in late).items():
            if refused.count(email) < count:
                self.finish(self.mails[email], "sent")

    @precondition(lambda self: self.late)
    @rule(chance=CHOICE, ending=st.sampled_from(Ending))
    def report_late(self, chance: Any, ending: Ending) -> None:
        """Settle in one group what may name one mail several times; a refusal names the mail."""
        late = [email for email in self.late if chance.random() < 0.5]
        expected = [email.id for email in late if not self.is_proof(email, ending)]
        log = LogStatus.SENT if ending is Ending.SENT else None
        refused = self.do(settle(self.conn, late, ending, wait=timedelta(0), log=log))
        assert Counter(refused) == Counter(expected)
        self.proven(late, expected)

    @rule(chance=CHOICE)
    def cancel(self, chance: Any) -> None:
        some = [m for m in self.mails.values() if chance.random() < 0.2]
        project = self.do(make.project_named(self.conn))
        done = dict(
            self.do(
                make.rows(
                    self.conn,
                    "SELECT * FROM mailqueue.cancel_emails(%s, %s)",
                    project,
                    [m.id for m in some],
                )
            )
        )
        for mail in some:
            if mail.status == "assigned":
                assert done[mail.id] == "asked"
                mail.is_cancelled = True
            elif mail.status in ("pending", "held"):
                assert done[mail.id] == "cancelled"
                self.finish(mail, "cancelled")
            else:
                assert mail.id not in done

    @rule(chance=CHOICE)
    def unsubscribe(self, chance: Any) -> None:
        addresses = [m.address for m in self.mails.values() if m.address not in self.suppressed]
        if addresses:
            address = chance.choice(addresses)
            statement = "INSERT INTO mailqueue.unsubscribe_list (email) VALUES (%s)"
            self.do(self.conn.execute(statement, [address]))
            self.suppressed.add(address)

    @invariant()
    def every_mail_is_where_we_believe_and_nowhere_else(self) -> None:
        found = self.do(make.rows(self.conn, "SELECT id, status FROM mailqueue.emails"))
        assert len(found) == len(self.mails), "a mail is in two places, or in none"
        assert dict(found) == {mail.id: mail.status for mail in self.mails.values()}

    @invariant()
    def limits_are_kept_and_counted(self) -> None:
        reserved = sum(m.recipients for m in self.mails.values() if m.status == "assigned")
        for which in (self.account, None):
            now = self.do(counted(self.conn, which))
            assert (now.sent, now.reserved) == (self.sent, reserved)
        assert self.sent + reserved <= self.limit

    @invariant()
    def the_books_add_up(self) -> None:
        assert self.do(difference(self.conn)) == 0


def test_whatever_happens_nothing_is_lost_doubled_or_overdrawn(
    database: DatabaseSettings,
) -> None:
    Queue.database = database
    run_state_machine_as_test(
        Queue,
        settings=settings(
            max_examples=EXAMPLES,
            phases=[Phase.generate],  # a failure prints its steps; fewer would take minutes to find
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
