"""Operations on all matching mail are carried out in batches, in order, until stopped."""

import asyncio
import os
import signal
import sys

import pytest

from mailqueue.core.crashpoints import VARIABLE
from mailqueue.core.errors import Conflict
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.operations import background, bulk
from mailqueue.operations import handler as handler_module
from mailqueue.operations.background import OperationVerb
from mailqueue.operations.handler import BEHIND
from mailqueue.operations.model import BulkOperation
from mailqueue.operations.store import background as store
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import claim
from tests.operations.background.steps import (
    SPRING,
    actions,
    begun,
    found,
    subjects,
    worked,
)
from tests.operations.steps import aged

pytestmark = pytest.mark.anyio

ADVANCED = "operation.advanced"
"""The point after the commit of a batch."""


async def test_all_that_match_are_held_then_released_and_nothing_else(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler_module, "MAX_SEARCHED", 2)
    async with connect(database) as conn:
        for number in range(5):
            await make.queued_email(conn, subject=f"Spring sale {number}")
            await make.queued_email(conn, subject=f"Your bill {number}")
        await make.project(conn, "shop")
        await make.queued_email(conn, project="shop", subject="Spring at the shop")
        held = await begun(conn)
        assert (held.state, held.emails) == ("waiting", 0)
        later = await make.queued_email(conn, subject="Spring, but later")
        await aged(conn, later, "-1 minute")

        assert await worked(database) == 1
        done = await found(conn, held)
        assert (done.state, done.emails, done.passes) == ("done", 5, 2)
        assert await subjects(conn, "held") == [f"Spring sale {number}" for number in range(5)]
        assert done.finished_at is not None
        reason = "SELECT DISTINCT last_error FROM mailqueue.email_queue WHERE status = 'held'"
        assert await make.rows(conn, reason) == [("wrong price",)]

        released = await begun(conn, verb=OperationVerb.RELEASE)
        await worked(database)
        assert (await found(conn, released)).emails == 5
        assert await subjects(conn, "held") == []
        assert await actions(conn) == [
            ("operation.begun", None),
            ("operation.ended", "5"),
            ("operation.begun", None),
            ("operation.ended", "5"),
        ]


async def test_cancelled_mail_is_finished_and_mail_of_a_worker_is_stopped_by_it(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        await make.sender_account(conn)
        assigned = await make.queued_email(conn, subject="Spring 1")
        await claim(conn, await make.worker(conn))
        await make.queued_email(conn, subject="Spring 2")
        operation = await begun(conn, verb=OperationVerb.CANCEL)
        await worked(database)

        assert (await found(conn, operation)).emails == 2
        assert await subjects(conn, "cancelled") == ["Spring 2"]
        query = "SELECT is_cancelled FROM mailqueue.email_queue WHERE id = %s"
        assert await make.scalar(conn, query, assigned)


@pytest.mark.parametrize("when", ["waiting", "running"])
async def test_a_stopped_operation_changes_nothing_more_and_keeps_what_it_has_changed(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    monkeypatch.setattr(handler_module, "MAX_SEARCHED", 2)
    monkeypatch.setattr(handler_module, "MAX_BATCHES", 1)
    async with connect(database) as conn:
        for number in range(6):
            await make.queued_email(conn, subject=f"Spring {number}")
        operation = await begun(conn)
        if when == "running":
            await worked(database)
            assert (await found(conn, operation)).state == "running"
        asked = await background.stop(conn, None, operation.id, by="ben")
        again = await background.stop(conn, None, operation.id, by="eve")
        await worked(database)

        stopped = await found(conn, operation)
        assert asked.state == "stopping"
        assert again.stop_requested_by == "ben"
        assert (stopped.state, stopped.stop_requested_by) == ("stopped", "ben")
        changed = 2 if when == "running" else 0
        assert (stopped.emails, len(await subjects(conn, "held"))) == (changed, changed)
        with pytest.raises(Conflict, match="is over: stopped"):
            await background.stop(conn, None, operation.id, by="ben")
        assert [name for name, _ in await actions(conn)] == [
            "operation.begun",
            "operation.stop_requested",
            "operation.ended",
        ]


async def test_two_operations_of_a_project_are_carried_out_in_order(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler_module, "MAX_SEARCHED", 2)
    monkeypatch.setattr(handler_module, "MAX_BATCHES", 1)
    async with connect(database) as conn:
        for number in range(4):
            await make.queued_email(conn, subject=f"Spring {number}")
        await make.project(conn, "shop")
        first, second = await begun(conn), await begun(conn, verb=OperationVerb.RELEASE)
        other = await begun(conn, project="shop")
        await worked(database)

        assert [(await found(conn, each)).state for each in (first, second, other)] == [
            "running",
            "waiting",
            "running",
        ]
        assert (await found(conn, second)).error == BEHIND
        for _ in range(20):
            await conn.execute("UPDATE mailqueue.bulk_operations SET run_at = now()")
            await worked(database)
        ends = [(await found(conn, each)) for each in (first, second)]
        assert [(each.state, each.emails, each.error) for each in ends] == [
            ("done", 4, None),
            ("done", 4, None),
        ]
        assert await subjects(conn, "pending") == [f"Spring {number}" for number in range(4)]


async def test_workers_at_once_change_each_mail_once(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Mail that another transaction holds is left to a later pass, or to later batches."""
    monkeypatch.setattr(handler_module, "MAX_SEARCHED", 3)
    async with connect(database) as conn, connect(database) as busy:
        for number in range(12):
            await make.queued_email(conn, subject=f"Spring {number}")
        operation = await begun(conn)
        order = BulkOperation("hold", {"project": "default", **SPRING}, {"reason": "by hand"})
        by_hand, _, _ = await asyncio.gather(
            bulk.carry_out(busy, order, by="ben", advance=lambda _: None),
            worked(database),
            worked(database),
        )
        while (await found(conn, operation)).finished_at is None:
            await conn.execute("UPDATE mailqueue.bulk_operations SET run_at = now()")
            await worked(database)

        done = await found(conn, operation)
        assert done.state == "done"
        assert done.emails + by_hand.emails == len(await subjects(conn, "held")) == 12


@pytest.mark.deep
async def test_killed_after_a_batch_it_goes_on_where_it_was(database: DatabaseSettings) -> None:
    """The killed worker has committed its first batch; its progress and the changes agree."""
    async with connect(database) as conn:
        for number in range(3):
            await make.queued_email(conn, subject=f"Spring {number}")
        operation = await begun(conn)
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", ONE_TURN),
            env=os.environ | {VARIABLE: f"{ADVANCED} kill 1", "DATABASE": database.url.reveal()},
        )
        assert await child.wait() == -signal.SIGKILL
        between = await found(conn, operation)
        assert (between.state, between.emails) == ("running", 3)
        await conn.execute(
            "UPDATE mailqueue.bulk_operations SET lease_until = now() - interval '1 s'"
        )
        await conn.execute("SELECT mailqueue.return_bulk_operations(NULL)")
        await worked(database)

        done = await found(conn, operation)
        assert (done.state, done.emails) == ("done", 3)
        assert [name for name, _ in await actions(conn)] == ["operation.begun", "operation.ended"]


ONE_TURN = """
import asyncio, os
from mailqueue.core.secret import Secret
from mailqueue.operations.handler import OperationHandler
from mailqueue.settings.environment import DatabaseSettings
from tests.queue.working import work_once
database = DatabaseSettings(Secret(os.environ["DATABASE"]))
asyncio.run(work_once(database, "operations", OperationHandler(database)))
"""


async def test_who_has_lost_the_claim_changes_nothing(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        await make.queued_email(conn, subject="Spring")
        operation = await begun(conn)
        worker = await make.worker(conn)
        query = (
            "SELECT claim_no FROM mailqueue.claim_bulk_operations(%s, 1, '1 min', false, 1,"
            " NULL, NULL)"
        )
        claim_no = await make.scalar(conn, query, worker)

        assert (
            await store.step(conn, operation.id, claim_no=claim_no + 1, searched=9, changed=9)
            == "lost"
        )
        assert await subjects(conn, "held") == []
        assert (
            await store.step(conn, operation.id, claim_no=claim_no, searched=9, changed=9) == "more"
        )
        assert await subjects(conn, "held") == ["Spring"]


async def test_a_batch_changes_a_bounded_number_of_mails(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler_module, "MAX_CHANGED", 2)
    monkeypatch.setattr(handler_module, "MAX_BATCHES", 1)
    async with connect(database) as conn:
        for number in range(5):
            await make.queued_email(conn, subject=f"Bill {number}")
            await make.queued_email(conn, subject=f"Spring {number}")
        operation = await begun(conn)
        progress = []
        for _ in range(4):
            await worked(database)
            now = await found(conn, operation)
            progress.append((now.state, now.emails))

        assert progress == [("running", 2), ("running", 4), ("running", 5), ("done", 5)]


async def test_a_step_searches_a_bounded_part_of_the_queue(conn: Conn) -> None:
    """However few mails match: a batch reads its window of the primary key, and no more."""
    for number in range(30):
        await make.queued_email(conn, subject=f"Bill {number}")
    operation = await begun(conn)
    worker = await make.worker(conn)
    query = (
        "SELECT claim_no FROM mailqueue.claim_bulk_operations(%s, 1, '1 min', false, 1, NULL, NULL)"
    )
    claim_no = await make.scalar(conn, query, worker)
    searched = []
    for _ in range(4):
        await store.step(conn, operation.id, claim_no=claim_no, searched=10, changed=9)
        searched.append((await background.find(conn, None, operation.id)).searched)
    assert searched == [10, 20, 30, 30]
