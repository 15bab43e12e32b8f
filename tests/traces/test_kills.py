"""An exporter that is killed around the collector's answer loses no span; those that come again
have the ids they had.
"""

import asyncio
import os
import signal
import sys
from collections import Counter
from pathlib import Path

import pytest

from mailqueue.core.crashpoints import VARIABLE
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.traces.exporting import ExportState
from mailqueue.webhooks.model import CallOutcome
from tests import make
from tests.traces.collector import collecting, spans_in
from tests.traces.mail import TRACE, sent
from tests.traces.test_calls import URL, called
from tests.webhooks.delivering import told, webhook

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(("point", "times"), [("traces.read", 1), ("traces.taken", 2)])
async def test_each_span_arrives_and_has_the_same_id_again(
    point: str, times: int, database: DatabaseSettings, tmp_path: Path
) -> None:
    async with connect(database) as conn, collecting(database) as (server, exporter):
        await webhook(conn, URL, event_types=["email.delivered"])
        [email] = await sent(conn, custom_data={"traceparent": TRACE})
        await told(conn, email_id=email)
        await called(conn, CallOutcome.DELIVERED)
        over = "UPDATE mailqueue.trace_export SET lease_until = now() - interval '1 s'"
        await conn.execute(over)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "mailqueue", "worker", "traces"),
            env=os.environ
            | {
                VARIABLE: f"{point} kill 1",
                "MAILQUEUE_DATABASE_URL": database.url.reveal(),
                "MAILQUEUE_DATA": str(tmp_path / "data"),
                "MAILQUEUE_TRACES_URL": f"http://127.0.0.1:{server.port}/v1/traces",
            },
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            assert await process.wait() == -signal.SIGKILL
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        first = {one.span_id for one in spans_in(server.requests)}
        assert bool(first) is (times == 2)
        held = "SELECT holder IS NOT NULL FROM mailqueue.trace_export"
        assert await make.scalar(conn, held) is True, "the lease of the dead one ends by itself"
        await conn.execute(over)
        while await exporter.turn() is not ExportState.IDLE:
            pass
        spans = await make.scalar(conn, "SELECT spans FROM mailqueue.trace_export")

    came = Counter(one.span_id for one in spans_in(server.requests))
    assert len(came) == 5  # accept, wait, hand over, event, webhook
    assert all(came[one] == times for one in first)
    assert spans == len(came), "those that were committed"
