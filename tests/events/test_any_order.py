"""Events have the same result in any order, however often and by however many sessions recorded."""

import asyncio
import random
from collections.abc import Iterator, Sequence
from datetime import timedelta
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.events.model import ReportedEvent, Suppress, Type
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.events.sent_mail import BOOKS, NOON, also_to, books, event, left, told
from tests.mail.claim.steps import opened

CODES = ("5.1.1", "5.2.2", "5.7.1", "4.2.2", None)
DETAILS = ("user unknown", "mailbox full", "blocked as spam", None)


class EventDatabase:
    """A database with mail in every state in which events can arrive."""

    def __init__(self, dsn: str) -> None:
        self.runner = asyncio.Runner()
        self.database = DatabaseSettings(Secret(dsn))
        self.opening = connect(self.database, application_name="test")
        self.conn: Conn = self.runner.run(self.opening.__aenter__())
        self.account = 0
        self.mails: list[UUID] = self.runner.run(self._mails())

    async def _mails(self) -> list[UUID]:
        conn = self.conn
        self.account = await make.sender_account(conn)
        await conn.execute("UPDATE mailqueue.projects SET soft_bounce_limit = 3")
        several = await left(conn, self.account, recipient_email="bob@example.com")
        await also_to(conn, several, "bob@example.com", "Cara@example.com")
        held = await make.queued_email(conn, recipient_email="dora@example.com")
        await conn.execute(
            "UPDATE mailqueue.email_queue SET status = 'held', unknowns = 1, assigned_to = %s,"
            " created_at = %s WHERE id = %s",
            (self.account, NOON - timedelta(days=20), held),
        )
        sent = [
            await left(conn, self.account, recipient_email=address, category=category)
            for address, category in (
                ("ann@example.com", "transactional"),
                ("Ann@example.com", "marketing"),
                ("eve@example.com", "marketing"),
            )
        ]
        return [several, held, *sent]

    def after(self, calls: Sequence[Sequence[ReportedEvent]]) -> list[list[str]]:
        """Return the books after these calls, and forget them."""

        async def play() -> list[list[str]]:
            async with self.conn.transaction(force_rollback=True):
                for call in calls:
                    await told(self.conn, *call)
                return await books(self.conn)

        return self.runner.run(play())

    def close(self) -> None:
        self.runner.run(self.opening.__aexit__(None, None, None))
        self.runner.close()


@pytest.fixture(scope="module")
def office(module_db: str) -> Iterator[EventDatabase]:
    opened = EventDatabase(module_db)
    yield opened
    opened.close()


def one_event(n: int, mails: Sequence[UUID], chance: random.Random, account: int) -> ReportedEvent:
    return event(
        chance.choice(list(Type)),
        account=chance.choice((account, None)),
        event_id=f"event {n}",
        email_id=chance.choice(mails),
        recipient=chance.choice(
            ("ann@example.com", "BOB@example.com", "cara@example.com", "no@example.com", None)
        ),
        occurred_at=NOON - timedelta(days=chance.randrange(12), minutes=chance.randrange(3)),
        code=chance.choice(CODES),
        detail=chance.choice(DETAILS),
        suppress=chance.choice((None, None, None, None, *Suppress)),
        data=chance.choice(({}, {"is_machine": True})),
    )


def dealt(events: Sequence[ReportedEvent], chance: random.Random) -> list[list[ReportedEvent]]:
    """Return the events three times over, shuffled, in calls of any size."""
    pile = [*events, *events, *events]
    chance.shuffle(pile)
    calls: list[list[ReportedEvent]] = [[]]
    for one in pile:
        if chance.random() < 0.2:
            calls.append([])
        calls[-1].append(one)
    return calls


@settings(max_examples=25)
@given(st.randoms(use_true_random=False), st.integers(1, 25))
def test_any_order_and_any_number_of_twins_leave_the_same_books(
    office: EventDatabase, chance: random.Random, count: int
) -> None:
    events = [one_event(n, office.mails, chance, office.account) for n in range(count)]

    assert office.after(dealt(events, chance)) == office.after([events])


SESSIONS = 4
DIGEST = (
    "SELECT count(*), coalesce(sum(hashtextextended(t::text, 0)::numeric), 0)::text FROM ({}) AS t"
)


@pytest.mark.anyio
async def test_many_sessions_at_once_leave_the_same_books(module_db: str) -> None:
    await compare(DatabaseSettings(Secret(module_db)), events=1_200, a_call=100)


@pytest.mark.soak
@pytest.mark.anyio
@pytest.mark.timeout(3600)
async def test_a_million_events_three_times_over_leave_the_same_books(fresh_db: str) -> None:
    await compare(DatabaseSettings(Secret(fresh_db)), events=1_000_000, a_call=500)


async def compare(database: DatabaseSettings, *, events: int, a_call: int) -> None:
    """Record events once in order, and three times over by several sessions; compare the rows."""
    chance = random.Random(7)
    async with opened(database, SESSIONS) as sessions:
        conn = sessions[0]
        mails, account = await many_left(conn, events // 4)
        pile = [one_event(n, mails, chance, account) for n in range(events)]

        for start in range(0, events, a_call):
            await told(conn, *pile[start : start + a_call])
        in_order = await digest(conn)

        await forget(conn)
        pile *= 3
        chance.shuffle(pile)
        calls = iter([pile[start : start + a_call] for start in range(0, len(pile), a_call)])

        async def tell(session: Conn) -> None:
            for call in calls:
                await told(session, *call)

        await asyncio.gather(*(tell(session) for session in sessions))
        assert await digest(conn) == in_order


async def many_left(conn: Conn, count: int) -> tuple[list[UUID], int]:
    """Create mails to a third as many addresses, a twentieth of them with unknown outcome."""
    account = await make.sender_account(conn)
    owner = await make.project_named(conn)
    await conn.execute(
        "INSERT INTO mailqueue.email_history (id, finished_at, project_id, lane_id, status,"
        " priority, attempts, max_attempts, created_at, assigned_to, recipients, unknowns,"
        " delivery, category, expires_at, recipient_email, content_id, content_on)"
        " SELECT mailqueue.uuidv7(), now(), %s, 1, 'sent', 2, 1, 3, %s, %s, 1, 0, 'resend',"
        " 'marketing', now(), 'person' || n / 3 || '@example.com', 1, current_date"
        " FROM generate_series(1, %s) AS n",
        (owner, NOON - timedelta(days=20), account, count - count // 20),
    )
    for n in range(min(200, count // 20)):
        held = await make.queued_email(conn, recipient_email=f"person{n}@example.com")
        await conn.execute(
            "UPDATE mailqueue.email_queue SET status = 'held', unknowns = 1, assigned_to = %s,"
            " created_at = %s WHERE id = %s",
            (account, NOON - timedelta(days=20), held),
        )
    found = await make.rows(conn, "SELECT id FROM mailqueue.emails ORDER BY id")
    await conn.execute(
        "CREATE TABLE kept AS SELECT * FROM mailqueue.email_queue WHERE unknowns > 0"
    )
    return [row[0] for row in found], account


async def digest(conn: Conn) -> list[tuple[object, ...]]:
    return [(await make.rows(conn, DIGEST.format(query)))[0] for query in BOOKS]


async def forget(conn: Conn) -> None:
    """Delete all recorded events."""
    await make.by_hand(conn)
    await conn.execute(
        "TRUNCATE mailqueue.email_events, mailqueue.bounce_list, mailqueue.suppressions,"
        " mailqueue.unsubscribe_list, mailqueue.event_keys, mailqueue.notices"
    )
    await conn.execute("DELETE FROM mailqueue.email_history WHERE id IN (SELECT id FROM kept)")
    await conn.execute("ALTER TABLE mailqueue.email_queue DISABLE TRIGGER USER")
    await conn.execute("DELETE FROM mailqueue.email_queue")
    await conn.execute("INSERT INTO mailqueue.email_queue SELECT * FROM kept")
    await conn.execute("ALTER TABLE mailqueue.email_queue ENABLE TRIGGER USER")
