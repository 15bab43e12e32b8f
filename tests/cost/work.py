"""The work whose cost is bounded.

A case opens its sessions, does so many units, and ends its sessions. It runs twice, on databases of
its own, with few units and with more: what it costs to begin is no part of the difference.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from email.policy import SMTP
from functools import partial
from typing import Any

from psycopg.types.json import Jsonb

from bench.arrivals import serve
from bench.claimer import sent
from bench.mails import body
from bench.webhooks import Endpoint
from mailqueue.core.queues.registry import queue_named
from mailqueue.db.pool import connect, open_pool
from mailqueue.mail.send.store.outcomes import settle_and_mark
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.model import Task
from mailqueue.maintenance.tasks import open_context
from mailqueue.maintenance.tasks import run as run_tasks
from mailqueue.queue.in_progress import InProgress
from mailqueue.queue.worker import QueueWorker
from mailqueue.settings.archive import ArchiveSettings
from mailqueue.settings.attachments import AttachmentSettings
from mailqueue.webhooks.handler import WebhookHandler
from mailqueue.wiring.files import ArchiveStores
from tests import make
from tests.adapters.sending.test_worker import settings_of, worker
from tests.api.support.calling import HELLO, calling
from tests.cost.case import (
    ADDED_ACCOUNTS,
    BATCH,
    CaseSetup,
    account,
    address_of,
    claim_batch,
    claimed,
    crowded,
    mails_left,
    many_accounts,
    nothing,
    queued,
)
from tests.cost.counting import LONG_SECONDS
from tests.inbound import json_provider as inbound
from tests.mail.custom_smtp import sending
from tests.privacy.erasing import erased
from tests.queue.working import turn_to_end
from tests.submission import programs
from tests.webhooks import delivering

SIZE = 2_000
"""Bytes of text and HTML of a mail."""


@dataclass(frozen=True, slots=True)
class Case:
    """Work of one kind; `units` is how many are counted, after `warm` others.

    What `prepare` does is not counted; nor are statements of the setup's driver, but what they
    write is.
    """

    name: str
    do: Callable[[CaseSetup, int], Awaitable[None]]
    prepare: Callable[[CaseSetup], Awaitable[None]]
    units: int = 20
    # A statement is prepared after five executions, and its plan kept after five more.
    warm: int = 12

    @property
    def all(self) -> int:
        """Return the number of units of the longer run."""
        return self.warm + self.units


async def insert(setup: CaseSetup, units: int) -> None:
    async with connect(setup.database) as conn:
        for number in range(units):
            mail = body(number, SIZE)
            await conn.execute(
                "INSERT INTO mailqueue.email_queue (recipient_email, subject, html_body, text_body)"
                " VALUES (%s, %s, %s, %s)",
                (address_of(number), mail.subject, mail.html, mail.text),
            )


async def enqueue(setup: CaseSetup, units: int) -> None:
    async with connect(setup.database) as conn:
        for number in range(units):
            mail = body(number, SIZE)
            await conn.execute(
                "SELECT mailqueue.enqueue('default', %s, %s, %s, %s)",
                (address_of(number), mail.subject, mail.html, mail.text),
            )


async def enqueue_batch(setup: CaseSetup, units: int) -> None:
    async with connect(setup.database) as conn:
        for number in range(units):
            await conn.execute(
                "SELECT count(*) FROM mailqueue.enqueue_batch('default', %s)",
                (Jsonb([_message(number * BATCH + n) for n in range(BATCH)]),),
            )


async def insert_accounts(setup: CaseSetup, units: int) -> None:
    await _insert_accounts(setup, units, 120)


async def insert_one_account(setup: CaseSetup, units: int) -> None:
    await _insert_accounts(setup, units, 1)


async def post(setup: CaseSetup, units: int) -> None:
    async with calling(setup.database) as calls:
        for _ in range(units):
            answer = await calls.send(HELLO)
            assert answer.is_success, answer.text


async def submit(setup: CaseSetup, units: int) -> None:
    octets = programs.message().as_bytes(policy=SMTP)

    def hand_in(running: programs.RunningSubmission) -> None:
        with running.client() as client:
            for _ in range(units):
                programs.handed_in(client, octets)

    url = f"{setup.database.url.reveal()}?pool_max={setup.database.pool_max}"
    async with setup.driver() as conn, programs.running(url, conn, setup.data) as running:
        await asyncio.to_thread(hand_in, running)


async def claim(setup: CaseSetup, units: int) -> None:
    async with connect(setup.database) as conn:
        for _ in range(units):
            await claim_batch(conn, setup.worker)


async def mark(setup: CaseSetup, units: int) -> None:
    async with connect(setup.database) as conn:
        for emails in setup.claims[:units]:
            await settle_and_mark(conn, setup.worker, new=emails)


async def settle(setup: CaseSetup, units: int) -> None:
    async with connect(setup.database) as conn:
        for emails in setup.claims[:units]:
            await settle_and_mark(conn, setup.worker, settled=[sent(email) for email in emails])


async def send(setup: CaseSetup, units: int) -> None:
    """Send by one worker without its parent process, which rescues by the clock."""
    arrived: set[bytes] = set()

    def has_arrived(count: int) -> bool:
        return len(arrived) == count

    sink = await serve(lambda address, _: arrived.add(address))
    async with sink, setup.driver() as conn:
        await make.sender_account(conn, smtp_port=sink.sockets[0].getsockname()[1])
        async with worker(settings_of(setup.database, setup.data)):
            for number in range(units):
                await make.queued_email(conn, recipient_email=address_of(number))
                await _until(partial(has_arrived, number + 1))
                await setup.counting.quiet()


async def deliver(setup: CaseSetup, units: int) -> None:
    """Deliver by turns of the test: the worker polls by the clock, and each poll would count."""
    heard = 0

    class Hearing(Endpoint):
        def data_received(self, data: bytes) -> None:
            nonlocal heard
            heard += data.count(b"POST ")
            super().data_received(data)

    in_progress = InProgress()
    handler = WebhookHandler(delivering.tools())
    queue = QueueWorker(setup.database, queue_named("webhooks"), handler, in_progress)
    loop = asyncio.get_running_loop()
    endpoint = await loop.create_server(Hearing, "127.0.0.1", 0)
    port = endpoint.sockets[0].getsockname()[1]
    async with endpoint, setup.driver() as conn:
        await delivering.webhook(conn, f"http://127.0.0.1:{port}/hooks")
        worker = await make.worker(conn)
        try:
            for number in range(units):
                await delivering.told(conn, is_read=False)
                assert await turn_to_end(queue, worker) == 1
                assert heard == number + 1
        finally:
            await queue.close()
            in_progress.close()


async def record(setup: CaseSetup, units: int) -> None:
    in_progress = InProgress()
    handler = inbound.handler(setup.database)
    queue = QueueWorker(setup.database, queue_named("inbound"), handler, in_progress)
    async with setup.driver() as conn:
        worker = await make.worker(conn)
        try:
            for mail in setup.mails[:units]:
                await inbound.kept(
                    conn, {"type": "delivered", "event_id": str(mail), "email_id": str(mail)}
                )
                assert await turn_to_end(queue, worker) == 1
        finally:
            await queue.close()
            in_progress.close()


async def erase(setup: CaseSetup, units: int) -> None:
    async with opened_by_operator(setup) as opened:
        for number in range(units):
            await erased(opened, address_of(number))


async def maintain(setup: CaseSetup, units: int) -> None:
    async with opened_by_operator(setup) as opened:
        for _ in range(units):
            done = await run_tasks(opened, list(Task), tell=lambda _: None)
            assert not any(each.is_busy or each.is_stopped for each in done)


def opened_by_operator(setup: CaseSetup) -> AbstractAsyncContextManager[MaintenanceContext]:
    stores = ArchiveStores(
        ArchiveSettings((setup.data / "archive").as_uri(), None),
        AttachmentSettings(places=((setup.data / "files").as_uri(),), over_bytes=100),
    )
    return open_context(setup.database, stores, operator="cost", advance=lambda _: None)


async def send_custom_smtp(setup: CaseSetup, units: int) -> None:
    async with sending.custom_smtp(setup.database) as (desk, _), open_pool(setup.database) as pool:
        desk.lend = pool.connection
        for number in range(units):
            done = await desk.send(sending.mail(address_of(number)))
            assert done.status == "sent"


CASES: Sequence[Case] = (
    Case("accept: INSERT", insert, account),
    Case("accept: enqueue()", enqueue, account),
    Case("accept: enqueue_batch() of 100", enqueue_batch, account, units=4),
    Case("accept: POST /v1/send", post, nothing),
    Case("accept: SMTP", submit, nothing),
    Case("claim: 100 mails", claim, queued, units=6),
    Case("claim: 100 mails of a project with 2,000 accounts", claim, crowded, units=6),
    Case("accounts: 120 in one INSERT", insert_accounts, account, units=6),
    Case("accounts: one more beside 800", insert_one_account, many_accounts, units=6),
    Case("mark: 100 mails", mark, claimed, units=6),
    Case("settle: 100 mails", settle, claimed, units=6),
    Case("send worker: INSERT, claim, mark, settle", send, nothing, warm=16),
    Case("webhook worker: event, claim, settle", deliver, nothing),
    Case("inbound worker: receive, claim, settle", record, mails_left),
    Case("erasure: a person with one mail", erase, mails_left, units=3),
    Case("maintenance: every task", maintain, mails_left, units=3),
    Case("custom SMTP: mail sent while the caller waits", send_custom_smtp, nothing),
)


async def _until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + LONG_SECONDS
    while not condition():
        assert time.monotonic() < end, "it was not done"
        await asyncio.sleep(0.002)


def _message(number: int) -> dict[str, Any]:
    mail = body(number, SIZE)
    return {
        "recipient": address_of(number),
        "subject": mail.subject,
        "html": mail.html,
        "text": mail.text,
    }


async def _insert_accounts(setup: CaseSetup, units: int, count: int) -> None:
    """Add so many sender accounts to the default project, in one statement a unit."""
    async with connect(setup.database) as conn:
        for number in range(units):
            await conn.execute(ADDED_ACCOUNTS, (f"added-{number}-", count))
