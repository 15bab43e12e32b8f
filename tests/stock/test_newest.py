"""Stock: with Debian's default settings the newest mail is read by indexes as well."""

import pytest

from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests.mail.reads.newest import CONDITIONS, MAX_ROWS, SHOWN, fill, look

pytestmark = [pytest.mark.anyio, pytest.mark.debian_server]


@pytest.fixture(scope="module")
async def filled(migrated_stock: DatabaseSettings) -> DatabaseSettings:
    async with connect(migrated_stock) as conn:
        await fill(conn)
    return migrated_stock


@pytest.mark.parametrize("order", ["created_at DESC", "created_at"])
@pytest.mark.parametrize("condition", CONDITIONS)
async def test_few_rows_are_read(filled: DatabaseSettings, condition: str, order: str) -> None:
    async with connect(filled) as conn:
        shown, read = await look(conn, CONDITIONS[condition], order)

    assert shown == SHOWN
    assert read <= MAX_ROWS
