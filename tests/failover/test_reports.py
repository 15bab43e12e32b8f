"""Reports are read from a standby."""

from dataclasses import replace
from datetime import timedelta

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.pool import connect
from mailqueue.operations.doctor import replica as checks
from mailqueue.operations.model import CheckState
from tests import make
from tests.analytics import folding
from tests.api.support.calling import Calling, calling
from tests.events.sent_mail import left
from tests.failover.pair import NAME, ROLE, Pair
from tests.operations.health.test_replica import checked
from tests.queue.kernel.pools import until

pytestmark = pytest.mark.anyio


async def sent(api: Calling) -> int:
    """Return the number of emails that an overview counts as sent."""
    answer = await api.get("/v1/analytics/overview?from=2020-01-01T00:00:00Z")
    assert answer.status_code == 200, answer.text
    counted: int = answer.json()["current"]["counts"]["sent"]
    return counted


async def test_counts_of_the_api_are_those_of_the_standby_once_it_has_them(
    servers: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    standby = Secret(f"postgresql://{ROLE}:{ROLE}@127.0.0.1:{servers.standby.port}/{NAME}")
    database = replace(servers.database, replica=standby)
    async with calling(database) as api, connect(database) as conn:
        before = await sent(api)
        servers.standby.ask("SELECT pg_wal_replay_pause()")
        try:
            account = await make.sender_account(conn, name="reported")
            for _ in range(3):
                await left(conn, account)
            await folding.caught_up(conn)
            late = await sent(api)
            monkeypatch.setattr(checks, "LATE", timedelta(0))
            found = await checked(database)
        finally:
            servers.standby.ask("SELECT pg_wal_replay_resume()")
        await until(lambda: _is(api, before + 3), lambda: sent(api))

    assert late == before
    assert (found.state, "older than those of the primary" in found.says) == (
        CheckState.WARNING,
        True,
    )


async def _is(api: Calling, wanted: int) -> bool:
    return await sent(api) == wanted
