"""Every view can be read on a standby, except the one of an unlogged table."""

from datetime import UTC, datetime

import pytest
from psycopg import sql

from mailqueue.core.secret import Secret
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.failover.pair import NAME, Pair

pytestmark = pytest.mark.anyio

_VIEWS = """
SELECT relname FROM pg_class WHERE relnamespace = 'mailqueue'::regnamespace AND relkind = 'v'
   AND relname <> 'worker_status'
"""


async def test_every_view_but_that_of_the_workers_is_read_on_a_standby(servers: Pair) -> None:
    async with connect(servers.database) as conn:
        much_later = datetime(2035, 1, 1, tzinfo=UTC)
        email = await make.queued_email(
            conn, recipient_email="reader@example.org", run_at=much_later
        )
    standby = DatabaseSettings(Secret(servers.standby.superuser(NAME)))

    async with connect(standby) as conn:
        assert await make.scalar(conn, "SELECT pg_is_in_recovery()")
        views = [row[0] for row in await make.rows(conn, _VIEWS)]
        for view in views:
            await conn.execute(sql.SQL("SELECT * FROM mailqueue.{}").format(sql.Identifier(view)))
        why = await make.scalar(conn, "SELECT mailqueue.why(%s)", email)

    assert {"health", "emails", "books"} <= set(views)
    assert why.startswith("not due before 2035-01-01")
