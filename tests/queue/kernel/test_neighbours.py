"""While a row stops its workers, rows of others go on: none waits for as long as 5 seconds."""

import asyncio
import logging
import os
import time
from pathlib import Path
from uuid import UUID

import pytest
from _pytest.mark.structures import ParameterSet

from mailqueue.core.queues.model import QueueSpec
from mailqueue.core.queues.registry import QUEUES
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.process import child
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.queue.kernel.child import WAYS
from tests.queue.kernel.kinds import KINDS
from tests.queue.kernel.pools import PATIENCE_SECONDS, pool_of, prepare, until
from tests.queue.kernel.rows import Rows

pytestmark = pytest.mark.anyio
COUNT = 12
"""Rows of each case; of erasures fewer, as each takes about a second."""
INTERVAL_SECONDS = 0.5
"""Interval at which rows become due after the hostile one."""
MAX_WAIT_SECONDS = 5.0
"""Wait of a row of others, from the time it is due."""
QUICK = {("inbound", "hang"), ("inbound", "leave"), ("webhooks", "hang")}
"""Cases that are tried each time; the others run with -m soak."""

DRAIN_SECONDS = 0.5
"""Time for a process to drain once all waits are measured: the one that hangs never does."""

log = logging.getLogger(__name__)


def cases() -> list[ParameterSet]:
    """Return every queue with every way in which a row stops its worker."""
    return [
        pytest.param(
            spec,
            way,
            id=f"{spec.name}-{way}",
            marks=() if (spec.name, way) in QUICK else pytest.mark.soak,
        )
        for spec in QUEUES
        for way in WAYS
    ]


async def unfinished(conn: Conn, rows: Rows) -> set[UUID]:
    """Return the rows that are not finished."""
    finished = rows.finished.format(done=rows.spec.done)
    found = await make.rows(
        conn,
        f"SELECT id FROM mailqueue.{rows.spec.table} WHERE id = ANY (%s) AND NOT ({finished})",
        rows.ids,
    )
    return {row[0] for row in found}


@pytest.mark.parametrize(("spec", "way"), cases())
async def test_rows_of_others_go_on_within_seconds(
    spec: QueueSpec,
    way: str,
    database: DatabaseSettings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(child, "DRAIN_SECONDS", DRAIN_SECONDS)
    async with (
        connect(database) as conn,
        KINDS[spec.name](conn, 4 if spec.name == "erasures" else COUNT) as rows,
    ):
        hostile, *others = rows.ids
        prepare(monkeypatch, database, tmp_path, hostile={str(hostile): way})
        async with pool_of([spec.name], tmp_path):

            async def has_started() -> bool:
                return bool(await make.scalar(conn, "SELECT count(*) FROM mailqueue.workers"))

            due = dict[UUID, float]()
            await conn.execute(
                f"UPDATE mailqueue.{spec.table} SET run_at = now() + interval '1 h'"
                " WHERE id = ANY (%s)",
                (rows.ids,),
            )
            await until(has_started, lambda: rows.unfinished(conn))
            for number, row_id in enumerate(rows.ids):
                due[row_id] = time.time() + number * INTERVAL_SECONDS
                await conn.execute(
                    f"UPDATE mailqueue.{spec.table} SET run_at = to_timestamp(%s) WHERE id = %s",
                    (due[row_id], row_id),
                )
            done, last = dict[UUID, float](), time.monotonic() + PATIENCE_SECONDS
            while len(done) < len(others) and time.monotonic() < last:
                left = await unfinished(conn, rows)
                now = time.time()
                done |= {one: now for one in others if one not in left and one not in done}
                await asyncio.sleep(0.02)
        assert len(done) == len(others), await rows.unfinished(conn)
        waits = [round(done[one] - due[one], 2) for one in others]
        log.info("%s %s: at most %.2f s, load %.1f", spec.name, way, max(waits), os.getloadavg()[0])
        assert max(waits) < MAX_WAIT_SECONDS, waits
