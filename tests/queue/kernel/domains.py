"""A few rows of the queue that checks domains."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mailqueue.core.queues.registry import queue_named
from mailqueue.db.fetch import Conn
from mailqueue.dkim.keys import Algorithm
from mailqueue.domains import keys
from mailqueue.vault.masterkey import parse_master_key
from tests import make
from tests.api.support.wired import MASTER
from tests.domains.nameserver import Zone, serving
from tests.queue.kernel.rows import Rows, ids_of

CHECKED = (
    "status = 'pending' AND attempts = 0 AND crashes = 0 AND worker_id IS NULL"
    " AND run_at > now() + interval '1 h' AND dkim = 'pass' AND spf = 'fail'"
)


@asynccontextmanager
async def domains(conn: Conn, count: int) -> AsyncIterator[Rows]:
    """Make domains with a key due; each has one check more, however often workers are killed."""
    master = parse_master_key(MASTER, source="tests")
    async with serving(Zone()) as zone:
        os.environ["MAILQUEUE_RESOLVER"] = f"127.0.0.1:{zone.port}"
        try:
            for number in range(count):
                domain = f"domain{number}.example"
                (key,) = await keys.create(
                    conn,
                    "default",
                    domain=domain,
                    algorithms=[Algorithm.ED25519],
                    master=master,
                    by="tests",
                )
                await keys.activate(conn, [key], by="tests", seen=True)
                zone.text(key.name, key.text)
            await conn.execute("UPDATE mailqueue.domain_rechecks SET run_at = now()")

            async def check(_doubtful: int) -> None:
                query = "SELECT domain, count(*) FROM mailqueue.domain_checks GROUP BY domain"
                found = {row[0]: row[1] for row in await make.rows(conn, query)}
                assert found == {f"domain{number}.example": 1 for number in range(count)}

            spec = queue_named("domains")
            yield Rows(spec, await ids_of(conn, spec), check, CHECKED)
        finally:
            del os.environ["MAILQUEUE_RESOLVER"]
