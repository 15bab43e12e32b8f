"""Fair and Flat with much mail: `--scale 20` is a million mails and ten thousand projects."""

from statistics import median
from typing import Any
from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.filling import fill
from tests.mail.claim.steps import LEASE, opened, sent

pytestmark = pytest.mark.anyio
CRITICAL, NORMAL = 0, 2
BATCH = 100


@pytest.fixture
def scale(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("--scale"))


async def tenant(conn: Conn, **columns: Any) -> UUID:
    project = await make.project(conn, **columns)
    await make.sender_account(conn, project_id=project)
    return project


async def claim_of(conn: Conn, worker: int) -> list[UUID]:
    await claims_store.gather_lanes(conn)
    taken = await claims_store.claim(conn, worker, limit=BATCH, lease=LEASE)
    return [email.project_id for email in taken]


async def buffers(conn: Conn) -> int:
    """Return the number of buffers that this session alone has read so far in mailqueue's
    relations.
    """
    return int(
        await make.scalar(
            conn,
            "SELECT sum(pg_stat_get_xact_blocks_fetched(c.oid)) FROM pg_class AS c"
            " WHERE c.relnamespace = 'mailqueue'::regnamespace AND c.relkind IN ('r', 'i')",
        )
    )


async def leave_alone(conn: Conn) -> None:
    """Turn off autovacuum: rows in freed space would be written to other pages."""
    tables = await make.rows(
        conn,
        "SELECT c.oid::regclass::text FROM pg_class AS c"
        " WHERE c.relnamespace = 'mailqueue'::regnamespace AND c.relkind = 'r'",
    )
    for (table,) in tables:
        await conn.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = off)".encode())


async def usual_cost(conn: Conn, worker: int) -> float:
    """Return the median of the buffers that a claim of a full batch reads."""
    costs = []
    for _ in range(9):
        await claims_store.gather_lanes(conn)
        async with conn.transaction():  # what was counted is kept until its end
            before = await buffers(conn)
            taken = await claims_store.claim(conn, worker, limit=BATCH, lease=LEASE)
            costs.append(await buffers(conn) - before)
        assert len(taken) == BATCH
    return median(costs)


async def test_a_flood_of_bulk_mail_delays_critical_mail_by_one_batch_at_most(
    database: DatabaseSettings, scale: int
) -> None:
    async with opened(database, 1) as (conn,):
        bulk, other = await tenant(conn), await tenant(conn)
        await fill(conn, 50_000 * scale, project=bulk, priority=NORMAL)
        worker = await make.worker(conn)
        await claim_of(conn, worker)

        batches_before = []
        for _ in range(40):  # twice every turn of a lower class
            await fill(conn, 1, project=other, priority=CRITICAL)
            waited = 0
            while other not in await claim_of(conn, worker):
                waited += 1
                assert waited < 5
            batches_before.append(waited)

        assert max(batches_before) <= 1
        assert batches_before.count(0) >= 30


async def test_a_used_up_backlog_leaves_the_cost_of_other_claims_as_it_was(
    database: DatabaseSettings, scale: int
) -> None:
    async with opened(database, 1) as (conn,):
        await leave_alone(conn)
        busy = await tenant(conn)
        worker = await make.worker(conn)
        await fill(conn, 100_000 * scale, project=busy)
        for _ in range(15):  # with what is claimed, too, indexes are as high as they will be
            await claim_of(conn, worker)
        stuck = await tenant(conn, daily_limit=1)
        await fill(conn, 2, project=stuck)
        for _ in range(3):  # the one that may go goes, and the lane is found used up
            await sent_all(conn, worker)
            await conn.execute(
                "UPDATE mailqueue.lanes SET blocked_until = now() WHERE blocked_reason = 'recheck'"
            )
        alone = await usual_cost(conn, worker)

        await fill(conn, 50_000 * scale, project=stuck)
        beside = await usual_cost(conn, worker)

        assert (
            await make.scalar(
                conn,
                "SELECT blocked_reason FROM mailqueue.lanes WHERE project_id = %s AND priority = 2"
                " AND route = ''",
                stuck,
            )
            == "daily_limit"
        )
        assert beside <= alone * 1.05


async def sent_all(conn: Conn, worker: int) -> None:
    await claims_store.gather_lanes(conn)
    await sent(conn, await claims_store.claim(conn, worker, limit=BATCH, lease=LEASE))


async def test_many_projects_with_a_few_mails_each_drain(
    database: DatabaseSettings, scale: int
) -> None:
    projects, each = 500 * scale, 3
    async with opened(database, 1) as (conn,):
        await conn.execute(
            "INSERT INTO mailqueue.projects (name)"
            " SELECT 'p' || n FROM generate_series(1, %s) AS n",
            (projects,),
        )
        await conn.execute(
            "INSERT INTO mailqueue.sender_accounts (project_id, name, smtp_host, smtp_port)"
            " SELECT id, 'relay', '127.0.0.1', 25 FROM mailqueue.projects WHERE name LIKE 'p%'"
        )
        await conn.execute(
            "WITH filled AS (INSERT INTO mailqueue.email_queue (project_id, project, lane_id,"
            " delivery, recipient_email, content_id, content_on)"
            " SELECT l.project_id, NULL, l.id, 'resend',"
            " 'p' || n || '@example.com', 1, current_date"
            " FROM mailqueue.lanes AS l, generate_series(1, %s) AS n, mailqueue.projects AS p"
            " WHERE p.id = l.project_id AND p.name LIKE 'p%%' AND l.priority = 2 AND l.route = ''"
            " RETURNING lane_id, run_at)"
            " INSERT INTO mailqueue.lane_signals (lane_id, due_at, emails)"
            " SELECT lane_id, min(run_at), count(*) FROM filled GROUP BY lane_id",
            (each,),
        )
        worker = await make.worker(conn)

        claims, got, seen = 0, 0, set()
        while got < projects * each:
            projects_of = await claim_of(conn, worker)
            got += len(projects_of)
            seen.update(projects_of)
            claims += 1
            assert claims <= 3 * projects * each / BATCH, "claims came back half empty"

        assert len(seen) == projects
