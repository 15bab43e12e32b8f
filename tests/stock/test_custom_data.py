"""Stock: with Debian's default settings custom data is found by indexes as well."""

import pytest

from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests.mail.reads import literal

pytestmark = [pytest.mark.anyio, pytest.mark.debian_server]


@pytest.fixture(scope="module")
async def filled(migrated_stock: DatabaseSettings) -> DatabaseSettings:
    async with connect(migrated_stock) as conn:
        await literal.fill(conn)
        await conn.execute(literal.WHOLE_INDEX.encode())
    return migrated_stock


@pytest.mark.parametrize(
    ("table", "index"),
    [("send_logs", "custom_data_idx"), ("email_queue", "email_queue_whole_custom_data_idx")],
)
async def test_few_rows_are_read(filled: DatabaseSettings, table: str, index: str) -> None:
    async with connect(filled) as conn:
        rows, read = await literal.found(conn, table)
        plan = await literal.plan(conn, table)

    assert index in plan
    assert rows == 1
    assert read <= literal.MAX_ROWS
