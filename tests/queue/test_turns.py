"""Work of many parts lets others have their turn, whatever the number of tasks that do it."""

import asyncio

import pytest

from mailqueue.queue import turns
from mailqueue.queue.turns import SharedTurns

pytestmark = pytest.mark.anyio


async def parts_a_turn(monkeypatch: pytest.MonkeyPatch, *, tasks: int, parts: int) -> list[int]:
    """Return how many parts of tasks were done in each turn of the loop; a part takes 1 s."""
    loop, shared = asyncio.get_running_loop(), SharedTurns()
    clock, done = 0.0, [0]
    monkeypatch.setattr(loop, "time", lambda: clock)
    monkeypatch.setattr(turns, "MAX_TURN_SECONDS", 2.5)

    async def work() -> None:
        nonlocal clock
        for _ in range(parts):
            await shared.share()
            done[-1] += 1
            clock += 1.0

    async def look() -> None:
        while True:
            await asyncio.sleep(0)
            done.append(0)

    looking = asyncio.create_task(look())
    await asyncio.gather(*(work() for _ in range(tasks)))
    looking.cancel()
    return done


@pytest.mark.parametrize(("tasks", "parts"), [(1, 20), (20, 1), (4, 5)])
async def test_a_turn_is_bounded_for_all_tasks_together(
    monkeypatch: pytest.MonkeyPatch, tasks: int, parts: int
) -> None:
    done = await parts_a_turn(monkeypatch, tasks=tasks, parts=parts)

    assert sum(done) == 20
    assert max(done) <= 3


async def test_short_work_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    done = await parts_a_turn(monkeypatch, tasks=1, parts=2)

    assert [count for count in done if count] == [2]
