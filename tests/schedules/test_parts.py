"""A part of a run costs what it makes, however many recipients the run has had before."""

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.schedules import turning
from tests.schedules.test_large_list import ADD_CONTACTS

pytestmark = pytest.mark.anyio
PART = 50
READ = """
    SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))
      FROM pg_stat_xact_user_tables WHERE relname = 'schedule_recipients'
"""


async def test_no_part_reads_the_recipients_of_those_before(conn: Conn) -> None:
    await conn.execute(ADD_CONTACTS, [12 * PART])
    made = await turning.put(
        conn,
        schedule_type="cron",
        cron_expression="0 9 1 1 *",
        payload=turning.RAW | {"to": ["everyone"]},
    )
    await make.rows(conn, "SELECT mailqueue.run_schedule(%s, %s)", await project(conn), made)
    await conn.execute(
        "UPDATE mailqueue.schedule_runs SET status = 'assigned', claim_no = 7, worker_id = %s,"
        " lease_until = now() + interval '1 min', assigned_at = now()",
        [await make.worker(conn)],
    )
    step = "SELECT mailqueue.continue_schedule_run(id, 7, %s) FROM mailqueue.schedule_runs"
    read = list[int]()
    for _ in range(12):
        before = await make.scalar(conn, READ)
        assert await make.scalar(conn, step, PART) in ("more", "done")
        read.append(await make.scalar(conn, READ) - before)
    count = await make.scalar(conn, "SELECT count(*) FROM mailqueue.schedule_recipients")

    assert count == 12 * PART
    assert max(read[1:]) <= PART, read


async def project(conn: Conn) -> object:
    return await make.project_named(conn)
