"""A migrated pair of servers for the tests of one file."""

import asyncio
from collections.abc import Iterator

import pytest

from mailqueue.db.migrate import migrate
from mailqueue.embedded.binaries import find_binaries
from mailqueue.embedded.service_user import Account
from tests.failover.pair import Pair, pair


@pytest.fixture(scope="module")
def servers(request: pytest.FixtureRequest, service_user: Account) -> Iterator[Pair]:
    """A primary and its synchronous standby."""
    found = find_binaries(request.config.getoption("--server-version"))
    with pair(found, service_user) as made:
        asyncio.run(migrate(made.database))
        yield made
