"""Rows whose whole work is SQL are claimed together, written in turn, and fail alone."""

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple
from uuid import UUID, uuid4

import pytest

from mailqueue.core.errors import InvalidField
from mailqueue.core.outcome import Done, Outcome
from mailqueue.core.queues.registry import queue_named
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.queue.handler import TransactionHandler
from mailqueue.queue.in_progress import InProgress
from mailqueue.queue.waiting import Handled, next_group
from mailqueue.queue.worker import QueueWorker
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.queue.working import turn_to_end, work_once

pytestmark = pytest.mark.anyio
SPEC = queue_named("schedules")
ROWS = 20
"""Rows of one project."""


class ClaimedSchedule(NamedTuple):
    """A claimed row of schedules."""

    id: UUID
    claim_no: int
    project_id: UUID


Waiting = defaultdict[object, deque[Handled[ClaimedSchedule, str]]]


class FakeTransactions(TransactionHandler[ClaimedSchedule, str]):
    """Writes nothing but outcomes; refuses the rows it is told to."""

    row = ClaimedSchedule

    def __init__(self, *refused: UUID) -> None:
        self.refused = refused
        self.commits = list[int]()

    def work(self, row: ClaimedSchedule) -> str:
        if row.id in self.refused:
            raise InvalidField("field", "of this row alone")
        return "work"

    async def commit(
        self,
        conn: Conn,  # noqa: ARG002
        done: Sequence[tuple[ClaimedSchedule, str]],
    ) -> list[Outcome]:
        self.commits.append(len(done))
        return [Done() for _ in done]


async def schedules(conn: Conn) -> list[UUID]:
    """Make due schedules of one project; return their ids."""
    found = await make.rows(
        conn,
        "INSERT INTO mailqueue.schedules (project_id, schedule_type, once_at, message, recipients,"
        " created_by, run_at) SELECT %s, 'once', now(), '{}', '[]', 'tests',"
        " now() - interval '1 min' FROM generate_series(1, %s) RETURNING id",
        await make.project_named(conn),
        ROWS,
    )
    return [row[0] for row in found]


def handled(project_id: UUID, size: int) -> Handled[ClaimedSchedule, str]:
    return Handled(ClaimedSchedule(uuid4(), 1, project_id), "work", size)


def waiting_of(*results: Handled[ClaimedSchedule, str]) -> Waiting:
    """Return results that ended in this order, by project."""
    waiting: Waiting = defaultdict(deque)
    for one in results:
        waiting[one.row.project_id].append(one)
    return waiting


def test_the_projects_take_turns_in_the_room_of_a_commit() -> None:
    """A project with large rows does not keep others from the next commit."""
    large, small = uuid4(), uuid4()
    waiting = waiting_of(*(handled(large, 100) for _ in range(5)), handled(small, 1))
    group = next_group(waiting, 500)
    assert [one.row.project_id for one in group] == [large, small, large, large, large]
    assert [one.size for one in next_group(waiting, 500)] == [100]
    assert next_group(waiting, 500) == []


def test_a_row_that_fills_more_than_a_commit_is_written_alone() -> None:
    project_id = uuid4()
    waiting = waiting_of(handled(project_id, 900), handled(project_id, 1))
    assert [one.size for one in next_group(waiting, 500)] == [900]
    assert [one.size for one in next_group(waiting, 500)] == [1]


def test_results_of_one_row_are_written_in_commits_of_their_own() -> None:
    first = handled(uuid4(), 1)
    waiting = waiting_of(first, first._replace(row=first.row._replace(claim_no=2)))
    assert [one.row.claim_no for one in next_group(waiting, 500)] == [1]
    assert [one.row.claim_no for one in next_group(waiting, 500)] == [2]


async def test_the_due_rows_of_a_project_are_claimed_and_written_together(
    database: DatabaseSettings,
) -> None:
    handler = FakeTransactions()
    async with connect(database) as conn:
        await schedules(conn)
        assert await work_once(database, SPEC.name, handler) == ROWS
        assert handler.commits == [ROWS]
        done = "SELECT count(*) FROM mailqueue.schedules WHERE status = 'completed'"
        assert await make.scalar(conn, done) == ROWS


async def test_no_more_rows_are_claimed_than_the_process_may_handle_at_the_same_time(
    database: DatabaseSettings,
) -> None:
    handler, in_progress = FakeTransactions(), InProgress()
    worker = QueueWorker(database, replace(SPEC, concurrency=5), handler, in_progress)
    async with connect(database) as conn:
        await schedules(conn)
        assert await turn_to_end(worker, await make.worker(conn)) == 5
    await worker.close()
    in_progress.close()


async def test_a_row_whose_work_cannot_be_told_fails_alone(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        wrong, *_ = await schedules(conn)
        await work_once(database, SPEC.name, FakeTransactions(wrong))
        left = await make.rows(
            conn,
            "SELECT id, status, attempts, last_error FROM mailqueue.schedules"
            " WHERE status <> 'completed'",
        )
        assert left == [(wrong, "pending", 1, str(InvalidField("field", "of this row alone")))]


async def test_a_row_that_stopped_its_worker_is_handled_alone(database: DatabaseSettings) -> None:
    handler = FakeTransactions()
    async with connect(database) as conn:
        await schedules(conn)
        await conn.execute("UPDATE mailqueue.schedules SET crashes = 1")
        assert await work_once(database, SPEC.name, handler, is_alone=True) == 1
        assert handler.commits == [1]
