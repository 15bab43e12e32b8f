"""One turn of counting at a time, as the queue worker takes it."""

from uuid import UUID

from mailqueue.analytics import store
from mailqueue.db.fetch import Conn
from tests import make

CLAIM = 1


async def claimed(conn: Conn) -> UUID:
    """Return the id of the row of counting, which a worker has claimed now."""
    query = (
        "UPDATE mailqueue.stats_state SET status = 'assigned', claim_no = %s, worker_id = 1"
        " WHERE name = 'all' RETURNING id"
    )
    found: UUID = await make.scalar(conn, query, CLAIM)
    return found


async def turn(conn: Conn, *, rows: int = 10_000) -> str:
    """Take one turn; return what it says."""
    state_id = await make.scalar(conn, "SELECT id FROM mailqueue.stats_state")
    return await store.fold(conn, state_id=state_id, claim_no=CLAIM, batch_rows=rows)


async def caught_up(conn: Conn, *, turns: int = 200) -> None:
    """Take turns until everything that is committed is counted."""
    await claimed(conn)
    goal = await make.scalar(conn, "SELECT clock_timestamp()")
    for _ in range(turns):
        await turn(conn)
        query = "SELECT folded_to > %s AND rebuilt_from IS NULL FROM mailqueue.stats_state"
        if await make.scalar(conn, query, goal):
            return
    raise AssertionError("not counted within the turns")


async def total(conn: Conn, metric: str, *, dimension: str = "total", value: str = "") -> int:
    """Return a count of the project default."""
    found: int = await make.scalar(
        conn,
        f"SELECT coalesce(sum(s.{metric}), 0)::integer FROM mailqueue.stats_quarters AS s"
        " JOIN mailqueue.projects AS p ON p.id = s.project_id"
        " WHERE p.name = 'default' AND s.dimension = %s AND s.value = %s AND NOT s.is_test",
        dimension,
        value,
    )
    return found


async def differences(conn: Conn) -> list[tuple[object, ...]]:
    """Return the first counts of the last two days that differ from history."""
    return [
        row
        for row in await make.rows(
            conn,
            "SELECT v.differences, v.table_name, v.dimension, v.value, v.metric, v.counted,"
            " v.in_history FROM mailqueue.verify_stats(now() - interval '2 days',"
            " now() + interval '1 h', 5) AS v",
        )
        if row[0]
    ]
