"""Outcomes are written together, in order, and kept until they are."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from mailqueue.queue.settler import GroupCommit

pytestmark = pytest.mark.anyio


class Book:
    """Where groups are written, one at a time, when `gate` is open."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.told: list[int] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def write(self, group: Sequence[int]) -> None:
        await self.gate.wait()
        self.groups.append(list(group))

    def written(self, group: Sequence[int]) -> None:
        assert list(group) == self.groups[-1]
        self.told += group


@asynccontextmanager
async def writing(book: Book, *, most: int = 200) -> AsyncIterator[GroupCommit[int]]:
    commit = GroupCommit[int](book.write, written=book.written, most=most)
    running = asyncio.create_task(commit.run())
    try:
        async with asyncio.timeout(10):
            yield commit
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_what_comes_while_a_group_is_written_goes_together() -> None:
    book = Book()
    async with writing(book) as commit:
        book.gate.clear()
        commit.add(1)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        for number in (2, 3, 4):
            commit.add(number)
        book.gate.set()
        await commit.drained()

    assert book.groups == [[1], [2, 3, 4]]
    assert book.told == [1, 2, 3, 4]


async def test_groups_are_bounded_and_nothing_is_left() -> None:
    book = Book()
    async with writing(book, most=3) as commit:
        for number in range(8):
            commit.add(number)
        assert len(commit) == 8
        await commit.drained()

    assert book.groups == [[0, 1, 2], [3, 4, 5], [6, 7]]
    assert len(commit) == 0


async def test_drained_waits_for_the_write_not_for_the_handing_in() -> None:
    book = Book()
    async with writing(book) as commit:
        book.gate.clear()
        commit.add(1)
        draining = asyncio.create_task(commit.drained())
        for _ in range(5):
            await asyncio.sleep(0)
        assert not draining.done()
        book.gate.set()
        await draining

    assert book.told == [1]
