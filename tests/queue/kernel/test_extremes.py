"""Rows with extreme values and handlers with extreme errors are one row's matter."""

from typing import Any

import pytest

from mailqueue.core.outcome import Done, Failed, Outcome, Retry
from mailqueue.db.pool import connect
from mailqueue.queue import failures, store
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.queue.kernel.fake import ClaimedRow, FakeHandler, add_rows, states
from tests.queue.kernel.test_worker import SPEC
from tests.queue.working import work_once

pytestmark = pytest.mark.anyio
MEBIBYTE = 1 << 20


async def test_rows_due_since_or_until_infinity(database: DatabaseSettings) -> None:
    """The one is due first, the other never; both are shown, counted and explained."""
    handler = FakeHandler()
    async with connect(database) as conn:
        await make.by_hand(conn)
        ever, never, plain = await add_rows(conn, 3)
        for row_id, run_at in ((ever, "-infinity"), (never, "infinity")):
            await conn.execute(
                "UPDATE mailqueue.inbound_events SET run_at = %s WHERE id = %s", (run_at, row_id)
            )
        assert set(await store.suspected(conn, [SPEC.name])) == set()
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.queue_counts()") > 0
        for row_id in (ever, never):
            assert await make.scalar(conn, "SELECT mailqueue.why_row(%s)", row_id)
        await work_once(database, "inbound", handler)
        assert handler.begun == [ever, plain]
        assert await states(conn) == {"processed": 2, "pending": 1}


async def test_a_lease_until_infinity_ends_with_its_worker(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        await add_rows(conn, 2)
        number = await make.worker(conn)
        assert len(await store.claim(conn, SPEC, ClaimedRow, worker=number, limit=2)) == 2
        await conn.execute("UPDATE mailqueue.inbound_events SET lease_until = 'infinity'")
        await store.stop_worker(conn, number)
        assert await states(conn) == {"pending": 2}


@pytest.mark.parametrize("kind", ["raised", "retry", "failed", "done"])
async def test_the_reason_of_an_outcome_is_stored_within_bounds(
    kind: str, database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a handler or a server says: a megabyte, NUL, a lone surrogate; the log may fail."""

    def full(*_: object, **__: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(failures.log, "exception", full)
    text = "a\0b\ud800" + "x" * MEBIBYTE

    class Talking(FakeHandler):
        async def handle(self, row: ClaimedRow) -> Outcome | Any:  # noqa: ARG002
            if kind == "raised":
                raise RuntimeError(text)
            if kind == "done":
                return Done(reason=text)
            return Retry(text) if kind == "retry" else Failed(text)

    async with connect(database) as conn:
        await add_rows(conn, 2)
        await work_once(database, "inbound", Talking())
        longest = "SELECT max(length(last_error)) FROM mailqueue.inbound_events"
        assert await make.scalar(conn, longest) == 1000
        assert await states(conn, "worker_id IS NOT NULL") == {}


class Unspeakable(Exception):
    """An error whose message cannot be read."""

    def __str__(self) -> str:
        raise RuntimeError("no message")


async def test_an_error_without_a_message_is_the_outcome_of_its_row(
    database: DatabaseSettings,
) -> None:
    class Raising(FakeHandler):
        async def handle(self, row: ClaimedRow) -> Outcome | Any:
            if row.id == first:
                raise Unspeakable
            return await super().handle(row)

    async with connect(database) as conn:
        first, *_ = await add_rows(conn, 3)
        await work_once(database, "inbound", Raising())
        assert await states(conn) == {"processed": 2, "pending": 1}
        told = "last_error = 'Unspeakable: its message cannot be shown'"
        assert await states(conn, told) == {"pending": 1}


async def test_the_reason_of_a_death_is_stored_within_bounds(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        await add_rows(conn, 1)
        number = await make.worker(conn)
        [row] = await store.claim(conn, SPEC, ClaimedRow, worker=number, limit=1)
        claims = [(row.id, row.claim_no)]
        await store.suspect(conn, SPEC, claims, is_alone=False, reason="x\0" * MEBIBYTE)
        assert await make.scalar(
            conn, "SELECT length(last_error) < 1000 FROM mailqueue.inbound_events"
        )
