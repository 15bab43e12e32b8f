"""Ordered mail arrives in order while writers commit in any order and workers are killed."""

import asyncio
import os
import random
import signal
import subprocess
import sys
from email import message_from_bytes
from pathlib import Path
from uuid import uuid4

import pytest
from psycopg.types.json import Jsonb

from mailqueue.core.crashpoints import VARIABLE, Action
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.chaos.points.runner import lose_all
from tests.concurrency.running import (
    PATIENCE_SECONDS,
    SLOWLY,
    account_at,
    messages,
    pids,
    session,
    until_nothing_is_queued,
    workers,
)
from tests.mail.claim.steps import difference
from tests.smtp.client.scripted import ScriptedServer, scripted

pytestmark = pytest.mark.anyio
KEYS = 6
WRITERS = 4
MAILS_OF_A_WRITER = 30
INSERT = (
    "INSERT INTO mailqueue.outboxes (to_email, subject, body, custom_data)"
    " VALUES ('ann@example.com', %s, 'b', %s) RETURNING sequence_number"
)


async def orders_by_customer(conn: Conn) -> None:
    await conn.execute(
        b"SELECT mailqueue.change_project('default', '{\"ordering\": \"custom_data.customer\"}')"
    )


async def write(database: DatabaseSettings, number: int) -> dict[str, int]:
    """Insert mail of several keys in transactions that stay open; return places by subject."""
    chance = random.Random(number)
    places = {}
    async with connect(database) as conn:
        left = list(range(MAILS_OF_A_WRITER))
        while left:
            async with conn.transaction(force_rollback=chance.random() < 0.2) as transaction:
                some = left[: chance.randint(1, 4)]
                for n in some:
                    key = chance.randrange(KEYS)
                    subject = f"{key} {number} {n}"
                    place = await make.scalar(conn, INSERT, subject, Jsonb({"customer": key}))
                    if not transaction.force_rollback:
                        places[subject] = place
                    await asyncio.sleep(chance.random() / 20)
            if not transaction.force_rollback:
                left = left[len(some) :]
    return places


def assert_in_order(server: ScriptedServer, places: dict[str, int]) -> None:
    """Fail unless each key's mails arrived in the order of their places, each at least once."""
    last = dict.fromkeys(map(str, range(KEYS)), 0)
    for message in server.messages:
        subject = str(message_from_bytes(message.body)["Subject"])
        key = subject.split(maxsplit=1)[0]
        assert places[subject] >= last[key], f"{subject} came after a later mail of its key"
        last[key] = places[subject]
    arrived = {str(message_from_bytes(one.body)["Subject"]) for one in server.messages}
    assert arrived == set(places)


async def test_order_is_kept_while_writers_overlap_and_workers_are_killed(
    durable: DatabaseSettings,
) -> None:
    async with scripted(dot=SLOWLY) as server, session(durable) as conn:
        await account_at(conn, server)
        await orders_by_customer(conn)
        async with workers(durable, processes=3, in_flight=8) as command:
            victim = (await pids(conn, 3))[0]
            writing = asyncio.gather(*(write(durable, n) for n in range(WRITERS)))
            await messages(server, 15)
            os.kill(victim, signal.SIGKILL)
            written = await writing
            await messages(server, 60)
            os.kill((await pids(conn, 3))[-1], signal.SIGKILL)
            places = {subject: place for some in written for subject, place in some.items()}
            assert await until_nothing_is_queued(conn) == {"sent": len(places)}
            assert await command.stopped() == 0

        assert len(places) == WRITERS * MAILS_OF_A_WRITER
        assert_in_order(server, places)
        assert await difference(conn) == 0
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_order") == 0


# Between two durable facts of one mail, in the order of its way; the number of the passing.
POINTS = {
    "gather.committed": 2,
    "claim.committed": 2,
    "mark.read": 2,
    "dot.written": 2,
    "reply.read": 2,
    "settle.begun": 2,
    "settle.committed": 2,
}


async def killed_at(database: DatabaseSettings, point: str, folder: Path) -> None:
    """Run one worker until it is killed at a crash point."""
    words = f"{point} {Action.KILL} {POINTS[point]}"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "mailqueue", "worker", "send", f"--child={uuid4()}"),
        *(f"--data={folder}", "--batch=8", "--in-flight=8"),
        env={**os.environ, "MAILQUEUE_DATABASE_URL": database.url.reveal(), VARIABLE: words},
        stdin=subprocess.PIPE,  # its end would stop the worker
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            said = await process.stdout.read()
            code = await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert code == -signal.SIGKILL, f"{point} was never reached: {said[-2000:]!r}"


async def test_order_is_kept_by_workers_that_are_killed_at_each_point(
    durable: DatabaseSettings, tmp_path: Path
) -> None:
    async with scripted(dot=SLOWLY) as server, session(durable) as conn:
        await account_at(conn, server)
        await orders_by_customer(conn)
        places = {}
        for n in range(KEYS * 8):
            subject = f"{n % KEYS} 0 {n}"
            data = Jsonb({"customer": n % KEYS})
            places[subject] = await make.scalar(conn, INSERT, subject, data)
        for point in POINTS:
            await killed_at(durable, point, tmp_path)
            await lose_all(conn)
            # What was in doubt twice is held: a person sends it again.
            await conn.execute(
                b"SELECT mailqueue.release_emails(project_id, ARRAY[id])"
                b" FROM mailqueue.email_queue WHERE status = 'held'"
            )
        assert len(server.messages) < len(places), "the last ones had nothing to send"
        async with workers(durable) as command:
            assert await until_nothing_is_queued(conn) == {"sent": len(places)}
            assert await command.stopped() == 0

        assert_in_order(server, places)
        assert await difference(conn) == 0
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_order") == 0
