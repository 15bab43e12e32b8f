"""A statement that a reachable server refuses is retried for a while, until cancelled."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest
from psycopg import DataError
from psycopg.errors import UndefinedTable

from mailqueue.db import link
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link

pytestmark = pytest.mark.anyio


class Refusing(Link):
    """A link to a server that responds slowly, and refuses that many times."""

    def __init__(self, refusals: int, *, error: Exception, away_s: float = 0.0) -> None:
        self._name = "test"
        self.left = refusals
        self.error = error
        self.away_s = away_s
        self.calls = 0

    async def call(self, operation: Callable[[Conn], Awaitable[Any]]) -> Any:
        self.calls += 1
        try:
            await asyncio.sleep(self.away_s)
        except asyncio.CancelledError as exc:
            raise self.error from exc  # the driver sees its statement to the end
        if self.left:
            self.left -= 1
            raise self.error
        return await operation(cast(Conn, None))


async def done(_: Conn) -> str:
    return "done"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "REFUSED_WAIT", 0.01)


async def test_the_time_counts_from_the_first_refusal() -> None:
    refusing = Refusing(1, error=UndefinedTable("elsewhere"), away_s=0.2)

    assert await refusing.call_with_retries(done, seconds=0.1) == "done"


async def test_what_was_said_wrongly_is_not_said_again() -> None:
    refusing = Refusing(1, error=DataError("a NUL"))

    with pytest.raises(DataError):
        await refusing.call_with_retries(done, seconds=60)

    assert refusing.calls == 1


@pytest.mark.deep
async def test_a_cancel_is_heard_though_the_statement_ends_with_an_error() -> None:
    refusing = Refusing(0, error=UndefinedTable("elsewhere"), away_s=60)
    insisting = asyncio.create_task(refusing.call_with_retries(done, seconds=60))
    await asyncio.sleep(0.01)

    insisting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await insisting
