"""The newest mail of view emails is read by indexes, however much mail there is."""

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests.mail.reads.newest import CONDITIONS, MAX_ROWS, SHOWN, fill, look

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def filled(module_db: str) -> DatabaseSettings:
    database = DatabaseSettings(Secret(module_db))
    async with connect(database) as conn:
        await fill(conn)
    return database


@pytest.mark.parametrize("order", ["created_at DESC", "created_at"])
@pytest.mark.parametrize("condition", CONDITIONS)
async def test_few_rows_are_read(filled: DatabaseSettings, condition: str, order: str) -> None:
    async with connect(filled) as conn:
        shown, read = await look(conn, CONDITIONS[condition], order)

    assert shown == SHOWN
    assert read <= MAX_ROWS
