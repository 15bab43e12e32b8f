"""An API that knows the signing secret of its Slack app."""

from collections.abc import AsyncIterator

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests.api.support.calling import Calling, calling
from tests.api.support.wired import MASTER
from tests.watch.buttons.pressing import SECRET
from tests.watch.watching import PUBLIC_URL
from tests.webhooks.delivering import LOOPBACK


@pytest.fixture
async def api(database: DatabaseSettings) -> AsyncIterator[Calling]:
    options = {
        "slack_signing_secret": Secret(SECRET),
        "public_url": PUBLIC_URL,
        "allowed_hosts": LOOPBACK.allowed_networks,
    }
    async with calling(database, master_key=Secret(MASTER), **options) as made:
        yield made


@pytest.fixture
async def conn(api: Calling) -> AsyncIterator[Conn]:
    async with connect(api.database) as made:
        yield made
