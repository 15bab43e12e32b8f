"""Reports are read from the replica while it answers, and from the primary while it does not."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from structlog.testing import capture_logs

from mailqueue.core.errors import Unavailable
from mailqueue.core.secret import Secret
from mailqueue.db import replica as replicas
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.db.replica import Replica, open_replica
from mailqueue.embedded.ports import free_port
from mailqueue.projects.keys.manage import revoke_key
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.analytics.replicas import beside, sessions
from tests.api.support.calling import Calling, calling

pytestmark = pytest.mark.anyio
REPORTS = (
    "/v1/analytics/overview",
    "/v1/analytics/timeseries?metric=sent",
    "/v1/analytics/heatmap?metric=sent",
    "/v1/analytics/templates",
    "/v1/analytics/providers",
)


def away(database: DatabaseSettings) -> DatabaseSettings:
    """Return settings with a replica that does not answer."""
    return replace(database, replica=Secret(f"postgresql://a:b@127.0.0.1:{free_port()}/c"))


async def read(api: Calling, path: str) -> dict[str, Any]:
    answer = await api.get(path)
    assert answer.status_code == 200, answer.text
    document: dict[str, Any] = answer.json()
    return document


async def test_every_report_is_read_over_one_connection_to_the_replica(
    database: DatabaseSettings,
) -> None:
    async with calling(beside(database)) as api, connect(database) as conn:
        before = await sessions(conn)
        for path in REPORTS:
            await read(api, path)
        after = await sessions(conn)

    assert (before, after) == (0, 1)


async def test_a_replica_that_does_not_answer_costs_no_answer_and_is_not_tried_each_time(
    database: DatabaseSettings,
) -> None:
    async with calling(away(database)) as api:
        with capture_logs() as logs:
            for path in REPORTS:
                await read(api, path)

    warned = [line for line in logs if line["event"] == "replica.away"]
    assert len(warned) == 1
    assert "a:b" not in warned[0]["error"]


async def test_reports_that_come_together_try_the_replica_once(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried, begun, all_began = 0, 0, asyncio.Event()

    @asynccontextmanager
    async def connecting(settings: DatabaseSettings, **options: str) -> AsyncIterator[Conn]:
        nonlocal tried
        tried += 1
        await all_began.wait()
        async with connect(settings, **options) as conn:
            yield conn

    async def report(replica: Replica) -> None:
        nonlocal begun
        begun += 1
        if begun == 5:
            all_began.set()
        async with replica.lend(partial(connect, database)):
            pass

    monkeypatch.setattr(replicas, "connect", connecting)
    async with open_replica(away(database)) as replica:
        assert replica is not None
        await asyncio.gather(*(report(replica) for _ in range(5)))

    assert tried == 1


async def test_a_replica_is_tried_again_after_a_while(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replicas, "AWAY_SECONDS", 0.0)
    async with calling(away(database)) as api:
        with capture_logs() as logs:
            for path in REPORTS:
                await read(api, path)

    assert len([line for line in logs if line["event"] == "replica.away"]) == len(REPORTS)


async def test_whether_a_key_is_valid_is_read_from_the_primary(
    database: DatabaseSettings, shared_db: str
) -> None:
    async with calling(replace(database, replica=Secret(shared_db))) as api:
        for path in REPORTS:
            await read(api, path)
        async with connect(database) as conn:
            await revoke_key(conn, "default", "tests")
        revoked = await api.get(REPORTS[0])

    assert revoked.status_code == 401


async def test_a_replica_that_lacks_what_a_report_reads_is_left_for_a_while(
    database: DatabaseSettings, empty_db: str
) -> None:
    async with calling(replace(database, replica=Secret(empty_db))) as api:
        with capture_logs() as logs:
            first = await api.get(REPORTS[0])
            for path in REPORTS:
                await read(api, path)

    assert (first.status_code, "retry-after" in first.headers) == (503, True)
    assert len([line for line in logs if line["event"] == "replica.away"]) == 1


async def test_with_all_its_connections_in_use_a_report_is_told_to_come_again(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replicas, "WAIT_SECONDS", 0.05)
    settings = beside(database)
    primary = partial(connect, settings)
    async with open_replica(settings) as replica:
        assert replica is not None
        async with replica.lend(primary):
            with pytest.raises(Unavailable):
                async with replica.lend(primary):
                    pass
        async with replica.lend(primary) as conn:
            assert await make.scalar(conn, "SELECT current_setting('application_name')")
