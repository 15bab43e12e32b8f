"""Fills lanes with many mails at once, without the checks of accepting."""

from uuid import UUID

from mailqueue.db.fetch import Conn


async def fill(
    conn: Conn,
    count: int,
    *,
    project: UUID,
    priority: int = 2,
    route: str = "",
    domain: str = "example.com",
) -> None:
    """Queue mails due now in one lane, without ANALYZE and without content of their own."""
    await conn.execute(
        "WITH filled AS (INSERT INTO mailqueue.email_queue (project_id, project, lane_id, priority,"
        " delivery, recipient_email, content_id, content_on) SELECT l.project_id, NULL, l.id,"
        " l.priority, 'resend', 'p' || n || '@' || %s, 1, current_date"
        " FROM mailqueue.lanes AS l, generate_series(1, %s) AS n"
        " WHERE l.project_id = %s AND l.priority = %s AND l.route = %s"
        " RETURNING lane_id, run_at) INSERT INTO mailqueue.lane_signals (lane_id, due_at, emails)"
        " SELECT lane_id, min(run_at), count(*) FROM filled GROUP BY lane_id",
        (domain, count, project, priority, route),
    )
