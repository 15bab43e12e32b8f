"""A receiver of bounce mail with its own database, for the tests of a file."""

from collections.abc import AsyncIterator

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.tracking.keyring import Keyring
from tests.inbound.bounces.bounce_mail import MASTER, BounceReceiver


@pytest.fixture(scope="module")
async def office(module_db: str) -> AsyncIterator[BounceReceiver]:
    database = DatabaseSettings(Secret(module_db))
    async with connect(database) as conn:
        yield BounceReceiver(conn, database, Keyring(lambda: MASTER))


@pytest.fixture
async def nothing_yet(office: BounceReceiver) -> None:
    for table in ("inbound_events", "email_events", "event_keys", "suppressions", "bounce_list"):
        await office.conn.execute(f"DELETE FROM mailqueue.{table}".encode())
