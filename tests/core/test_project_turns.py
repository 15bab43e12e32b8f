"""Work of projects is done in turn, and few of a project's requests wait."""

import asyncio
from uuid import UUID, uuid4

import pytest

from mailqueue.core.errors import TooManyRequests
from mailqueue.core.project_turns import MAX_WAITING, ProjectTurns

pytestmark = pytest.mark.anyio


class Work:
    """Records whose turns there were; each lasts until it is released."""

    def __init__(self, **limits: int | None) -> None:
        self.turns = ProjectTurns("be tried", **limits)  # type: ignore[arg-type]
        self.begun: list[UUID] = []
        self.release = asyncio.Event()

    async def one(self, project: UUID) -> None:
        async with self.turns.turn(project):
            self.begun.append(project)
            await self.release.wait()


async def started(work: Work, *projects: UUID) -> list[asyncio.Task[None]]:
    tasks = [asyncio.create_task(work.one(project)) for project in projects]
    await asyncio.sleep(0)
    return tasks


async def test_a_project_with_many_requests_delays_another_by_the_one_that_has_its_turn() -> None:
    work, many, other = Work(), uuid4(), uuid4()
    tasks = await started(work, *[many] * 4, other)

    assert work.begun == [many]
    work.release.set()
    await asyncio.gather(*tasks)

    assert work.begun == [many, other, many, many, many]


async def test_one_project_has_half_of_the_turns_and_the_others_have_the_rest() -> None:
    work, many, second, third = Work(at_once=4), uuid4(), uuid4(), uuid4()
    tasks = await started(work, *[many] * 4, second, third, third)

    assert work.begun == [many, many, second, third]
    tasks[2].cancel()
    work.release.set()
    await asyncio.gather(*tasks, return_exceptions=True)

    assert work.begun == [many, many, second, third, third, many]
    await asyncio.gather(*(work.one(second) for _ in range(9)))  # nothing is held any more


async def test_where_none_is_refused_all_wait() -> None:
    work, project = Work(max_waiting=None), uuid4()
    tasks = await started(work, *[project] * (MAX_WAITING + 5))
    work.release.set()
    await asyncio.gather(*tasks)

    assert work.begun == [project] * len(tasks)


async def test_more_requests_of_a_project_than_may_wait_are_refused_and_others_are_not() -> None:
    work, many, other = Work(), uuid4(), uuid4()
    tasks = await started(work, *[many] * (1 + MAX_WAITING))

    with pytest.raises(TooManyRequests, match="4 requests of the project wait to be tried"):
        await work.one(many)
    tasks += await started(work, other)
    work.release.set()
    await asyncio.gather(*tasks)

    assert work.begun.count(many) == 1 + MAX_WAITING
    assert work.begun.count(other) == 1
    await work.one(many)  # and nothing is held any more


async def test_a_cancelled_request_gives_its_turn_to_the_next() -> None:
    for last in range(4):
        work, first, second = Work(), uuid4(), uuid4()
        tasks = await started(work, first, first, second, first)
        for task in tasks[1 : 1 + last]:
            task.cancel()
        tasks[0].cancel()
        work.release.set()
        await asyncio.gather(*tasks, return_exceptions=True)

        assert len(work.begun) == 4 - last
        await work.one(second)


async def test_a_request_that_is_cancelled_as_its_turn_begins_passes_it_on() -> None:
    work, first, second = Work(), uuid4(), uuid4()
    tasks = await started(work, first, second, first)
    tasks[0].cancel()
    with pytest.raises(asyncio.CancelledError):
        await tasks[0]
    tasks[1].cancel()
    work.release.set()
    await asyncio.gather(*tasks, return_exceptions=True)

    await work.one(first)
    assert work.begun[-2:] == [first, first]
