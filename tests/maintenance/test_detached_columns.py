"""A month that is on its way out gets the columns of its table, and can be attached again."""

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.rules.source import ROOT

pytestmark = pytest.mark.anyio
MONTH = "mailqueue.send_logs_2020_01"


async def test_attempts_of_a_detached_month_get_the_columns_of_attempts(conn: Conn) -> None:
    (migration,) = (ROOT / "sql/migrations").glob("*_attempt_custom_data.sql")
    _, _, block = migration.read_text("utf-8").partition("DO $$")
    block = "DO $$" + block.partition("$$;")[0] + "$$;"
    await conn.execute(
        f"CREATE TABLE {MONTH} (LIKE mailqueue.send_logs INCLUDING CONSTRAINTS)".encode()
    )
    await conn.execute(
        f"ALTER TABLE {MONTH} DROP COLUMN conversation, DROP COLUMN custom_data".encode()
    )

    await conn.execute(block.encode())

    await conn.execute(
        f"ALTER TABLE mailqueue.send_logs ATTACH PARTITION {MONTH}"
        " FOR VALUES FROM ('2020-01-01') TO ('2020-02-01')".encode()
    )
    attached = "SELECT relispartition FROM pg_class WHERE oid = %s::regclass"
    assert await make.scalar(conn, attached, MONTH)
