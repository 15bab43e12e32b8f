"""Queries of tables by custom data as a DBA writes them, among much other mail."""

from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending, LogStatus
from tests import make
from tests.mail.claim.steps import claim, settle

MAX_ROWS = 20
"""Rows that such a query may read."""
OTHERS = 30_000
LITERAL = 'SELECT * FROM {} WHERE custom_data @> \'{{"merge_tag": "value"}}\''
WHOLE_INDEX = """
    CREATE INDEX CONCURRENTLY email_queue_whole_custom_data_idx
        ON mailqueue.email_queue USING gin (custom_data) WHERE custom_data IS NOT NULL
"""
"""The index that docs/dba-guide.md gives; the statement is the one there."""
QUEUED = (
    "project_id, lane_id, status, priority, attempts, max_attempts, created_at, recipients,"
    " unknowns, delivery, category, expires_at, recipient_email, content_id, content_on"
)
ATTEMPTED = "sent_at, email_id, project_id, attempt, status, recipient_email"
_DATA = "jsonb_build_object('merge_tag', 'v' || n, 'shop', n %% 5)"


async def fill(conn: Conn) -> None:
    """Have one mail with the value in the queue and one attempt with it, among many others."""
    data = Jsonb({"merge_tag": "value", "variables": {"name": "Ann"}})
    await make.sender_account(conn)
    await make.queued_email(conn, custom_data=data)
    claims = await claim(conn, await make.worker(conn))
    await settle(conn, claims, Ending.SENT, log=LogStatus.SENT)
    await make.queued_email(conn, custom_data=data)
    await conn.execute(
        (
            f"INSERT INTO mailqueue.email_queue (id, is_test, custom_data, {QUEUED}, project)"
            f" SELECT mailqueue.uuidv7(), is_test, {_DATA}, {QUEUED}, NULL"
            " FROM mailqueue.email_queue, generate_series(1, %s) AS n"
        ).encode(),
        (OTHERS,),
    )
    await conn.execute(
        (
            f"INSERT INTO mailqueue.send_logs (custom_data, {ATTEMPTED}) SELECT {_DATA},"
            f" {ATTEMPTED} FROM mailqueue.send_logs, generate_series(1, %s) AS n"
        ).encode(),
        (OTHERS,),
    )
    await conn.execute("ANALYZE mailqueue.email_queue")
    await conn.execute("ANALYZE mailqueue.send_logs")


async def plan(conn: Conn, table: str) -> str:
    """Return the plan of the query of a table, as text."""
    rows = await make.rows(conn, f"EXPLAIN {LITERAL.format(f'mailqueue.{table}')}")
    return "\n".join(line for (line,) in rows)


async def found(conn: Conn, table: str) -> tuple[int, int]:
    """Return how many rows the query finds, and how many it reads."""
    read = (
        "SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::integer"
        " FROM pg_stat_xact_user_tables WHERE relname LIKE %s"
    )
    async with conn.transaction():
        before = await make.scalar(conn, read, f"{table}%")
        rows = await make.rows(conn, LITERAL.format(f"mailqueue.{table}"))
        return len(rows), await make.scalar(conn, read, f"{table}%") - before
