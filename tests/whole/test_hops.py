"""How many functions of ours a click and a bounce enter, each of which a reader follows."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from mailqueue.adapters.providers import providers
from mailqueue.core.queues.registry import queue_named
from mailqueue.core.secret import Secret
from mailqueue.inbound import endpoints
from mailqueue.inbound.endpoints import SecretsChange
from mailqueue.inbound.handler import InboundHandler, InboundTools
from mailqueue.queue.in_progress import InProgress
from mailqueue.queue.running import run_worker
from mailqueue.queue.worker import QueueWorker
from mailqueue.senders import accounts
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.vault.masterkey import MasterKey
from tests import make
from tests.api.support.calling import ORIGIN
from tests.api.support.recipient_links import ONE_CLICK, Leaving, leaving
from tests.events.sent_mail import left
from tests.hops import hops
from tests.inbound.json_provider import Confirming

pytestmark = pytest.mark.anyio

MAX_CLICK_FUNCTIONS = 25
MAX_BOUNCE_FUNCTIONS = 47
PATIENCE_SECONDS = 60
"""Limit of a wait on a busy machine."""


@pytest.fixture(scope="module")
async def shop(module_db: str) -> AsyncIterator[Leaving]:
    async with leaving(DatabaseSettings(Secret(module_db))) as made:
        yield made


async def test_an_unsubscribe_click_enters_few_functions(shop: Leaving) -> None:
    """From the route to the row, once the project's keys are loaded."""
    assert (await shop.http.get(await shop.link_to("ann@example.com"))).status_code == 200
    link = await shop.link_to("bob@example.com")

    with hops() as entered:
        answer = await shop.http.post(link, data=ONE_CLICK)

    assert answer.status_code == 200
    assert not await shop.gets("bob@example.com", "marketing")
    assert len(entered.names) <= MAX_CLICK_FUNCTIONS, "\n".join(entered.names)


async def test_a_bounce_a_provider_reports_enters_few_functions(shop: Leaving) -> None:
    """From the route to the suppression: the request is kept, then a running worker records it."""
    account = await accounts.find(shop.conn, "shop", name="relay")
    shown = await endpoints.put(
        shop.conn,
        account,
        provider="postmark",
        change=SecretsChange(user="hook", password="secret"),
        is_rotated=False,
        master=MasterKey(bytes(range(32))),
        base_url=ORIGIN,
        by="tests",
    )
    tools = InboundTools(providers(), Confirming())
    number, stop = await make.worker(shop.conn), asyncio.Event()
    worker = QueueWorker(
        shop.database, queue_named("inbound"), InboundHandler(shop.database, tools), InProgress()
    )
    loop = asyncio.get_running_loop()

    async def report(address: str, number: int) -> None:
        mail = await left(
            shop.conn, account.id, project_id=shop.project_id, recipient_email=address
        )
        bounce: dict[str, Any] = {
            "RecordType": "Bounce",
            "Type": "HardBounce",
            "ID": number,
            "Metadata": {"mailqueue_id": str(mail)},
            "Email": address,
            "Inactive": True,
            "BouncedAt": "2026-11-01T10:00:00Z",
            "Details": "smtp;550 5.1.1 user unknown",
        }
        answer = await shop.http.post(shown.url, json=bounce, auth=("hook", "secret"))
        assert answer.status_code == 200

    async def recorded(count: int) -> None:
        query = "SELECT count(*) FROM mailqueue.inbound_events WHERE status = 'processed'"
        async with asyncio.timeout(PATIENCE_SECONDS):
            while await make.scalar(shop.conn, query) < count or worker.held:  # noqa: ASYNC110
                await asyncio.sleep(0.02)

    running = asyncio.create_task(run_worker(worker, stop, number))
    await report("carol@example.com", 1)
    await recorded(1)
    with hops() as entered, ThreadPoolExecutor(1) as threads:
        loop.set_default_executor(threads)
        await report("dave@example.com", 2)
        await recorded(2)
    loop.set_default_executor(ThreadPoolExecutor())  # other tests have the same event loop
    stop.set()
    await running

    assert not await shop.gets("dave@example.com", "transactional")
    assert len(entered.names) <= MAX_BOUNCE_FUNCTIONS, "\n".join(entered.names)
