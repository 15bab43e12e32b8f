"""Creates rows with sensible defaults, through SQL; a test names only what it is about."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from psycopg import sql
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn

NOTHING_DUE = """
UPDATE mailqueue.maintenance_tasks SET run_at = now() + interval '1 d';
UPDATE mailqueue.stats_state SET run_at = now() + interval '1 d'
"""
PROJECT_FROM_BEFORE = """
    UPDATE mailqueue.projects
       SET require_postal_address = false, max_age_hours_critical = 96, max_age_hours_high = 96,
           max_age_hours_normal = 96, max_age_hours_low = 96
"""
"""Projects as an installation from before has them: most tests are about other rules."""


async def scalar(conn: Conn, query: str, *params: object) -> Any:
    """Return the first column of the first row; None if there is no row."""
    row = await (await conn.execute(query.encode(), params or None)).fetchone()
    return None if row is None else row[0]


async def rows(conn: Conn, query: str, *params: object) -> list[tuple[Any, ...]]:
    """Return every row."""
    return await (await conn.execute(query.encode(), params or None)).fetchall()


async def inserted(conn: Conn, table: str, values: Mapping[str, object]) -> Any:
    """Insert one row into a table of the schema; return its id, None if nothing was inserted."""
    names = [sql.Identifier(name) for name in values]
    statement = sql.SQL("INSERT INTO {} ({}) VALUES ({}) RETURNING id").format(
        sql.Identifier("mailqueue", table),
        sql.SQL(", ").join(names),
        sql.SQL(", ").join(sql.Placeholder() * len(names)),
    )
    row = await (await conn.execute(statement, [adapted(v) for v in values.values()])).fetchone()
    return None if row is None else row[0]


def adapted(value: object) -> object:
    """Return objects, and lists of them, as jsonb."""
    is_json = isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(one, dict) for one in value)
    )
    return Jsonb(value) if is_json else value


async def project(conn: Conn, name: str | None = None, **columns: object) -> UUID:
    """Create a project; its lanes and its limit are created with it."""
    values = {"name": name or f"p-{uuid4().hex[:12]}", **columns}
    found: UUID = await inserted(conn, "projects", values)
    return found


async def project_named(conn: Conn, name: str = "default") -> UUID:
    """Return a project's id."""
    found: UUID = await scalar(conn, "SELECT id FROM mailqueue.projects WHERE name = %s", name)
    return found


async def sender_account(
    conn: Conn, *, project_id: UUID | None = None, name: str | None = None, **columns: object
) -> int:
    """Create a sender account of the default project, without a server."""
    values = {
        "project_id": project_id or await project_named(conn),
        "name": name or f"s-{uuid4().hex[:12]}",
        "email": "sender@example.com",
        "smtp_host": "127.0.0.1",
        "smtp_port": 25,
        "smtp_tls": "none",
        "is_private_ok": True,
        **columns,
    }
    found: int = await inserted(conn, "sender_accounts", values)
    return found


async def template(conn: Conn, project_id: UUID, *, slug: str = "news", name: str = "News") -> UUID:
    """Create a template of a project, without a version."""
    given = Jsonb({"slug": slug, "name": name})
    query = "SELECT mailqueue.add_template(%s, %s, 'tests')"
    found: UUID = await scalar(conn, query, project_id, given)
    return found


async def logged_attempts(
    conn: Conn, sender: str, minutes_ago: int, status: str, count: int
) -> None:
    """Log attempts of an account at the start of a minute, which took 1 ms, 2 ms and so on."""
    query = """
        INSERT INTO mailqueue.send_logs (sent_at, email_id, project_id, sender_account_id, attempt,
            status, recipient_email, response_ms)
        SELECT date_trunc('minute', clock_timestamp()) - %s * interval '1 min', gen_random_uuid(),
               a.project_id, a.id, 1, %s, 'ann@example.com', n
          FROM mailqueue.sender_accounts AS a, generate_series(1, %s) AS n WHERE a.name = %s
    """
    await conn.execute(query.encode(), (minutes_ago, status, count, sender))


async def queued_email(conn: Conn, **columns: object) -> UUID:
    """Insert one mail of the default project; None when its idempotency key was used before."""
    values = {
        "recipient_email": "ann@example.com",
        "subject": "Hello",
        "text_body": "Hello Ann",
        **columns,
    }
    found: UUID = await inserted(conn, "email_queue", values)
    return found


async def queued_emails(conn: Conn, count: int, **columns: object) -> Sequence[UUID]:
    """Insert mails to person0@example.com, person1@… in one transaction; return their ids."""
    async with conn.transaction():
        return [
            await queued_email(conn, **{"recipient_email": f"person{n}@example.com", **columns})
            for n in range(count)
        ]


async def worker(
    conn: Conn, *, kind: str = "send", host: str = "test", queues: Sequence[str] = ()
) -> int:
    """Register a worker with a heartbeat of now."""
    found: int = await scalar(
        conn, "SELECT mailqueue.start_worker(%s, %s, 1, 'test', NULL, %s)", kind, host, list(queues)
    )
    return found


async def silent(conn: Conn, worker_id: int, *, since: timedelta = timedelta(minutes=5)) -> None:
    """Move a worker's last heartbeat into the past."""
    await conn.execute(
        "UPDATE mailqueue.workers SET beat_at = clock_timestamp() - %s WHERE id = %s",
        (since, worker_id),
    )


async def by_hand(conn: Conn) -> None:
    """Let the session do what operators are refused."""
    await conn.execute("SET mailqueue.by_hand = on")


async def highest_class_first(conn: Conn) -> None:
    """Make the next four claims begin with the highest priority."""
    await conn.execute(
        "SELECT setval('mailqueue.claim_no_seq', (last_value / 20 + 1) * 20)"
        " FROM mailqueue.claim_no_seq"
    )


async def claimed(conn: Conn, worker_id: int, *, limit: int = 100) -> list[tuple[UUID, int]]:
    """Claim due mail for a worker; return (id, claim_no) of each mail."""
    await conn.execute("SELECT mailqueue.gather_lanes()")
    return [
        (row[0], row[1])
        for row in await rows(
            conn,
            "SELECT id, claim_no FROM mailqueue.claim_emails(%s, %s, interval '15 min')",
            worker_id,
            limit,
        )
    ]


async def status_of(conn: Conn, email_id: UUID) -> str | None:
    """Return a mail's status, finished or not."""
    found: str | None = await scalar(
        conn, "SELECT status FROM mailqueue.emails WHERE id = %s", email_id
    )
    return found
