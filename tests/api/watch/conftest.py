"""The API with a client at Google."""

from collections.abc import AsyncIterator

import pytest

from mailqueue.core.secret import Secret
from mailqueue.settings.environment import DatabaseSettings
from tests.api.support.calling import calling
from tests.api.support.wired import MASTER
from tests.api.watch.consenting import PUBLIC, USERS, Site
from tests.watch.fake_gmail import CLIENT_ID, CLIENT_SECRET, fake_gmail


@pytest.fixture
async def site(database: DatabaseSettings) -> AsyncIterator[Site]:
    async with fake_gmail() as google:
        options = {
            "gmail_client_id": CLIENT_ID,
            "gmail_client_secret": CLIENT_SECRET,
            "gmail_url": google.url,
            "allowed_hosts": "127.0.0.0/8",
            "public_url": PUBLIC,
        }
        async with calling(database, master_key=Secret(MASTER), **options) as api:
            owner = (await api.post(USERS, {"email": "ann@example.com"})).json()["id"]
            yield Site(api, google, owner)
