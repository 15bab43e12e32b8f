"""Mail and events as many services and workers write them, in transactions that overlap."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make

TYPES = (
    "delivered",
    "soft_bounce",
    "hard_bounce",
    "complaint",
    "opened",
    "clicked",
    "unsubscribed",
)
WEIGHTS = (8, 1, 1, 1, 8, 6, 1)
TEMPLATES = ("welcome", "receipt")
EVENTS = 40
"""Events of one transaction."""
BATCH = 50
"""Emails of one transaction."""
_TAKE = """
SELECT q.id, q.project_id, a.id AS account
  FROM mailqueue.email_queue AS q
  JOIN LATERAL (SELECT s.id FROM mailqueue.sender_accounts AS s
                 WHERE s.project_id = q.project_id AND s.provider <> 'trap'
                 ORDER BY hashtext(q.id::text || s.id::text) LIMIT 1) AS a ON true
 WHERE q.id = ANY (%s) ORDER BY q.id
"""


@dataclass(slots=True)
class Session:
    """One connection's share of the mail, and what it has written so far."""

    number: int
    chance: random.Random
    queued: list[UUID] = field(default_factory=list)
    sent: list[UUID] = field(default_factory=list)
    failed: list[UUID] = field(default_factory=list)

    def word(self, name: str, of: int) -> str:
        return f"{name}{self.chance.randrange(of)}"


async def write(
    database: DatabaseSettings, number: int, emails: int, projects: Sequence[str], *, seed: int
) -> None:
    """Write that many emails with their outcomes and events."""
    session = Session(number, random.Random(seed * 100 + number))
    others = (_finish, _report, _judge, _requeue)
    async with connect(database, application_name=f"writer {number}") as conn:
        accepted = 0
        while accepted < emails or session.queued:
            if accepted >= emails:
                await _finish(conn, session)
                continue
            step = session.chance.choices((None, *others), (3, 4, 6, 1, 1))[0]
            if step is None:
                accepted += await _accept(conn, session, session.chance.choice(projects))
            else:
                await step(conn, session)


async def _pause(session: Session) -> None:
    """Keep the transaction open for a moment, so that others commit before it."""
    if session.chance.random() < 0.3:
        await asyncio.sleep(session.chance.random() / 30)


async def _accept(conn: Conn, session: Session, project: str = "default") -> int:
    chance = session.chance
    rows = []
    for _ in range(BATCH):
        mail: dict[str, Any] = {
            "project": project,
            "recipient_email": f"p{uuid4().hex[:8]}@{session.word('d', 9)}.example.com",
            "campaign_id": session.word("campaign-", 4) if chance.random() < 0.7 else None,
            "category": chance.choice(("transactional", "marketing")),
            "tags": [session.word("tag", 5) for _ in range(chance.randrange(3))] or None,
        }
        if chance.random() < 0.05:
            mail["recipient_email"] = "blocked@example.com"
        if chance.random() < 0.3:
            mail |= {"template": chance.choice(TEMPLATES), "subject": None, "text_body": None}
        else:
            mail |= {"template": None, "subject": "Hello", "text_body": f"Hello {project}"}
        rows.append(mail)
    fails = chance.random() < 0.1
    columns = ("id", *rows[0])
    ids = [uuid4() for _ in rows]
    query = f"INSERT INTO mailqueue.email_queue ({', '.join(columns)}) VALUES " + ", ".join(
        ["(" + ", ".join(["%s"] * len(columns)) + ")"] * len(rows)
    )
    values = [value for one, row in zip(ids, rows, strict=True) for value in (one, *row.values())]
    async with conn.transaction(force_rollback=fails):
        await asyncio.sleep(chance.random() / 50)  # the transaction began before its rows
        await conn.execute(query.encode(), values)
        await _pause(session)
    if fails:
        return 0
    session.queued += ids
    return len(ids)


async def _finish(conn: Conn, session: Session) -> None:
    chance = session.chance
    batch, session.queued = session.queued[:BATCH], session.queued[BATCH:]
    if not batch:
        return
    async with conn.transaction():
        rows = await make.rows(conn, _TAKE, batch)  # those suppressed at once are left out
        outcomes = chance.choices(
            ("sent", "failed", "expired", "cancelled"), (20, 2, 1, 1), k=len(rows)
        )
        await conn.execute(
            "UPDATE mailqueue.email_queue AS q SET assigned_to = i.account"
            " FROM unnest(%s::uuid[], %s::integer[]) AS i(id, account) WHERE q.id = i.id",
            ([row[0] for row in rows], [row[2] for row in rows]),
        )
        await conn.execute(
            "SELECT mailqueue.retire_emails(%s::uuid[], NULL, %s::text[],"
            " array_fill('x'::text, ARRAY[cardinality(%s::text[])]), NULL, NULL)",
            ([row[0] for row in rows], outcomes, outcomes),
        )
        await conn.execute(
            "INSERT INTO mailqueue.send_logs (email_id, project_id, sender_account_id, attempt,"
            " status, recipient_email, response_ms)"
            " SELECT i.id, i.project_id, i.account, 1, i.status, 'x@example.com', i.ms"
            " FROM unnest(%s::uuid[], %s::uuid[], %s::integer[], %s::text[], %s::integer[])"
            " AS i(id, project_id, account, status, ms)",
            (
                [row[0] for row in rows],
                [row[1] for row in rows],
                [row[2] for row in rows],
                ["sent" if one == "sent" else "failed" for one in outcomes],
                [chance.choice((0, 1, 7, 90, 400, 5000, None)) for _ in rows],
            ),
        )
        await _pause(session)
    for row, outcome in zip(rows, outcomes, strict=True):
        (session.sent if outcome == "sent" else session.failed).append(row[0])


async def _report(conn: Conn, session: Session) -> None:
    chance = session.chance
    if not session.sent:
        return
    now = datetime.now(UTC)
    events = []
    for mail in chance.choices(session.sent[-2000:], k=EVENTS):
        type_ = chance.choices(TYPES, WEIGHTS)[0]
        data: dict[str, object] = {}
        if type_ in ("opened", "clicked") and chance.random() < 0.3:
            data["is_machine"] = True
        if type_ in ("opened", "clicked") and chance.random() < 0.8:
            data |= {"client": session.word("client", 4), "device": session.word("device", 2)}
            if chance.random() < 0.5:
                data |= {"country": session.word("C", 3), "city": session.word("City", 5)}
        if type_ == "clicked":
            data["link"] = session.word("00aabbccddeeff00112233", 3)
        events.append(
            {
                "type": type_,
                "source": "tracking",
                "event_id": uuid4().hex,
                "email_id": str(mail),
                "occurred_at": (now - timedelta(seconds=chance.randrange(200))).isoformat(),
                "data": data,
            }
        )
    fails = chance.random() < 0.1
    async with conn.transaction(force_rollback=fails):
        await conn.execute("SELECT * FROM mailqueue.record_events(%s)", (Jsonb(events),))
        await _pause(session)


async def _judge(conn: Conn, session: Session) -> None:
    if session.sent:
        some = session.chance.choices(session.sent, k=20)
        async with conn.transaction():
            query = "SELECT mailqueue.judge_clicks(%s::uuid[], interval '1 day', 'burst')"
            await conn.execute(query, (some,))
            await _pause(session)


async def _requeue(conn: Conn, session: Session) -> None:
    some, session.failed = session.failed[:5], session.failed[5:]
    if some:
        query = (
            "SELECT r.id FROM (SELECT DISTINCT h.project_id FROM mailqueue.email_history AS h"
            " WHERE h.id = ANY (%s::uuid[])) AS p,"
            " mailqueue.requeue_emails(p.project_id, %s::uuid[]) AS r"
        )
        async with conn.transaction():
            found = await make.rows(conn, query, some, some)
            await _pause(session)
        session.queued += [row[0] for row in found]
