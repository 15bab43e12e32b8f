"""Mail in queue and history, and the rows that are read to show the newest of it."""

from typing import Any

from mailqueue.db.fetch import Conn
from tests import make

FINISHED, WAITING, ASSIGNED = 100_000, 40_000, 200
SHOWN = 50
MAX_ROWS = 2_000
"""Rows that a look at the newest 50 may read; all tables together have some 280,000."""
CONDITIONS = {
    "all": "",
    "one project": "WHERE project_id = (SELECT id FROM mailqueue.projects WHERE name = 'other')",
    "one project by name": "WHERE project = 'other'",
    "sent": "WHERE status = 'sent'",
    "waiting": "WHERE status = 'pending'",
    "live": "WHERE NOT is_test",
}
"""Conditions of a look, by their name."""


async def fill(conn: Conn) -> None:
    """Fill queue and history without the checks of accepting: nine mails in ten of `default`."""
    await conn.execute("SELECT mailqueue.add_project('other', 'ann', '{}')")
    of = (
        "(SELECT id FROM mailqueue.projects WHERE name = CASE WHEN n % 10 = 0 THEN 'other'"
        " ELSE 'default' END)"
    )
    queued = WAITING + ASSIGNED
    await conn.execute(
        "INSERT INTO mailqueue.email_contents (id, created_on, project_id, subject, text_body)"
        f" SELECT n, current_date, {of}, 's', 't'"
        f" FROM generate_series(1, {FINISHED + queued}) AS n".encode()
    )
    await conn.execute(
        "INSERT INTO mailqueue.email_history (id, finished_at, project_id, lane_id, status,"
        " priority, attempts, max_attempts, created_at, recipients, unknowns, delivery, category,"
        " expires_at, recipient_email, content_id, content_on, is_test)"
        f" SELECT mailqueue.uuidv7(), now(), {of}, 1, 'sent', 2, 1, 100,"
        " now() - interval '1 day' + n * interval '1 ms', 1, 0, 'resend', 'transactional',"
        " now(), 'p' || n || '@example.com', n, current_date, false"
        f" FROM generate_series(1, {FINISHED}) AS n".encode()
    )
    await conn.execute(
        "INSERT INTO mailqueue.email_queue (project_id, project, lane_id, delivery, created_at,"
        " recipient_email, content_id, content_on, status, claim_no, worker_id, assigned_to)"
        f" SELECT {of}, NULL, 1, 'resend', now() - n * interval '1 ms',"
        f" 'q' || n || '@example.com', {FINISHED} + n, current_date, s.status,"
        " s.number, s.number, s.number"
        f" FROM generate_series(1, {queued}) AS n CROSS JOIN LATERAL ("
        f" SELECT CASE WHEN n <= {ASSIGNED} THEN 'assigned' WHEN n % 2 = 0 THEN 'held'"
        f" ELSE 'pending' END, CASE WHEN n <= {ASSIGNED} THEN 1 END) AS s(status, number)".encode()
    )
    for table in ("email_queue", "email_history", "email_contents", "projects"):
        await conn.execute(f"ANALYZE mailqueue.{table}".encode())


async def look(conn: Conn, condition: str, order: str) -> tuple[int, float]:
    """Return how many mails are shown, and how many rows are read for them."""
    statement = f"SELECT * FROM mailqueue.emails {condition} ORDER BY {order} LIMIT {SHOWN}"
    (document,) = await make.scalar(conn, f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}")
    return len(await make.rows(conn, statement)), _rows_read(document["Plan"])


def _rows_read(plan: dict[str, Any]) -> float:
    """Return how many rows the scans of a plan read, those that they left out too."""
    own = 0.0
    if "Scan" in plan["Node Type"]:
        own = plan["Actual Loops"] * (plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0))
    return own + sum(_rows_read(one) for one in plan.get("Plans", ()))
