"""The process that takes events from RabbitMQ ends once its work has, with the reason."""

import asyncio
from collections.abc import Callable
from typing import cast

import pytest

from mailqueue.core.errors import Unavailable
from mailqueue.core.services.registry import service_named
from mailqueue.db.pool import Pool
from mailqueue.settings.environment import Settings, load_settings
from mailqueue.wiring import bridge
from mailqueue.wiring.services.running import ServiceContext, listen

pytestmark = pytest.mark.anyio


async def test_work_that_ends_early_stops_the_process_with_its_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    has_begun = asyncio.Event()

    async def ends(
        _settings: Settings, _pool: Pool, _stop: asyncio.Event, *, ready: Callable[[], None]
    ) -> None:
        ready()
        await has_begun.wait()
        raise Unavailable("the broker has ended")

    monkeypatch.setattr(bridge, "run", ends)
    context = ServiceContext(load_settings(), cast(Pool, None), asyncio.Event(), report=print)

    async def lives() -> None:
        async with asyncio.timeout(60), listen(service_named("rabbitmq"), context):
            has_begun.set()
            await context.stop.wait()

    with pytest.raises(Unavailable, match="the broker has ended"):
        await lives()
    assert context.stop.is_set()


async def test_beside_up_it_runs_only_where_queues_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def runs(*_: object, **__: object) -> None:
        raise AssertionError("no queue is named")

    monkeypatch.setattr(bridge, "run", runs)
    stop = asyncio.Event()
    context = ServiceContext(load_settings(), cast(Pool, None), stop, report=print, is_in_up=True)

    async with listen(service_named("rabbitmq"), context) as running:
        assert running is None
