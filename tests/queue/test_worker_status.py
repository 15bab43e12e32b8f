"""The view worker_status shows the queues of each worker and its claimed rows."""

import pytest

from mailqueue.core.queues.registry import QUEUES
from mailqueue.db.fetch import Conn
from tests import make

pytestmark = pytest.mark.anyio


async def test_a_worker_shows_its_queues_and_the_rows_it_holds(conn: Conn) -> None:
    await make.worker(conn)
    names = [spec.name for spec in QUEUES]
    worker = await make.worker(conn, kind="+".join(names), queues=names)
    await conn.execute(
        "INSERT INTO mailqueue.inbound_events (provider, body, status, worker_id, assigned_at,"
        " lease_until, claim_no) VALUES ('ses', '{}', 'assigned', %s, now(), now(), 1)",
        (worker,),
    )

    shown = "SELECT queues, assigned, assigned_rows FROM mailqueue.worker_status ORDER BY id"
    assert await make.rows(conn, shown) == [(["send"], 0, 0), (names, 0, 1)]
