"""Concurrent callers share a commit, and each receives its own result or its own error."""

import asyncio
from collections.abc import Sequence

import pytest

from mailqueue.core.errors import InputError, Unavailable
from mailqueue.db.group_commit import GroupCommit, GroupLimits, Size, Waiter

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(30)]


class Writer:
    """Writes texts: records its groups, and raises for those that contain a faulty text."""

    def __init__(self) -> None:
        self.groups: list[list[str]] = []
        self.written: list[str] = []
        self.faults: dict[str, Exception] = {}
        self.at_once = 0
        self.most_at_once = 0
        self.may_go = asyncio.Event()
        self.may_go.set()

    async def write(self, group: Sequence[Waiter[str, str]]) -> None:
        items = [waiter.item for waiter in group]
        self.groups.append(items)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await self.may_go.wait()
            await asyncio.sleep(0)
            for item in items:
                if item in self.faults:
                    raise self.faults[item]
        finally:
            self.at_once -= 1
        self.written += items
        for waiter in group:
            waiter.succeed(waiter.item.upper())


def committing(writer: Writer, limits: GroupLimits) -> GroupCommit[str, str]:
    return GroupCommit(
        writer.write, name="test", limits=limits, size=lambda text: Size(bytes=len(text))
    )


async def submitted(group: GroupCommit[str, str], items: Sequence[str]) -> list[str | Exception]:
    found = await asyncio.gather(*map(group.submit, items), return_exceptions=True)
    assert not any(isinstance(one, asyncio.CancelledError) for one in found)
    return list(found)  # type: ignore[arg-type]


async def test_callers_that_wait_together_share_a_commit() -> None:
    writer = Writer()
    group = committing(writer, GroupLimits(rows=100))

    assert await submitted(group, ["a", "b", "c"]) == ["A", "B", "C"]
    assert writer.groups == [["a", "b", "c"]]


async def test_a_caller_alone_does_not_wait_for_others() -> None:
    writer = Writer()
    group = committing(writer, GroupLimits(rows=100))

    for item in "abc":
        assert await group.submit(item) == item.upper()
    assert writer.groups == [["a"], ["b"], ["c"]]


@pytest.mark.deep
async def test_who_comes_while_a_group_is_written_is_in_the_next() -> None:
    writer = Writer()
    writer.may_go.clear()
    group = committing(writer, GroupLimits(rows=100))

    first = asyncio.create_task(group.submit("a"))
    await asyncio.sleep(0.01)
    others = [asyncio.create_task(group.submit(item)) for item in "bc"]
    await asyncio.sleep(0.01)
    writer.may_go.set()

    assert await asyncio.gather(first, *others) == ["A", "B", "C"]
    assert writer.groups == [["a"], ["b", "c"]]


async def test_a_group_is_bounded_in_rows_and_in_bytes() -> None:
    writer = Writer()
    group = committing(writer, GroupLimits(rows=3, bytes=10))
    items = ["a", "b", "c", "d", "12345", "12345", "a very long one", "e"]

    assert await submitted(group, items) == [item.upper() for item in items]
    assert writer.groups == [["a", "b", "c"], ["d", "12345"], ["12345"], ["a very long one"], ["e"]]


async def test_an_item_may_be_several_rows() -> None:
    writer = Writer()
    group = GroupCommit(
        writer.write,
        name="test",
        limits=GroupLimits(rows=4),
        size=lambda text: Size(rows=len(text)),
    )
    await asyncio.gather(*map(group.submit, ["aa", "bb", "c", "dddddd", "e"]))
    assert writer.groups == [["aa", "bb"], ["c"], ["dddddd"], ["e"]]


async def test_commits_at_once_are_bounded_and_begun_for_full_groups_only() -> None:
    writer = Writer()
    group = committing(writer, GroupLimits(rows=10, commits=2))
    await submitted(group, [f"{n}" for n in range(9)])
    assert writer.most_at_once == 1

    items = [f"{n}" for n in range(95)]
    assert await submitted(group, items) == items
    assert writer.most_at_once == 2
    assert max(map(len, writer.groups)) == 10


async def test_a_faulty_item_fails_alone_with_its_own_error() -> None:
    writer = Writer()
    writer.faults = {"x": InputError("x is wrong"), "y": ValueError("y is wrong")}
    group = committing(writer, GroupLimits(rows=100))

    a, x, b, y, c = await submitted(group, ["a", "x", "b", "y", "c"])

    assert [a, b, c] == ["A", "B", "C"]
    assert [str(x), str(y)] == ["x is wrong", "y is wrong"]
    assert writer.written == ["a", "b", "c"], "none is written twice"


async def test_what_was_answered_before_the_fault_is_not_written_again() -> None:
    written: list[str] = []

    async def write(group: Sequence[Waiter[str, str]]) -> None:
        for waiter in group:
            if waiter.item == "x":
                raise ValueError("x")
            written.append(waiter.item)
            waiter.succeed(waiter.item)

    group = GroupCommit(write, name="test", limits=GroupLimits(rows=100))
    found = await submitted(group, ["a", "x", "b"])

    assert [str(one) for one in found] == ["a", "x", "b"]
    assert written == ["a", "b"]


async def test_while_the_database_is_away_all_are_told_and_nothing_is_tried_again() -> None:
    writer = Writer()
    writer.faults = {"b": Unavailable("away")}
    group = committing(writer, GroupLimits(rows=100))

    found = await submitted(group, ["a", "b", "c"])

    assert [str(one) for one in found] == ["away"] * 3
    assert len(writer.groups) == 1
    writer.faults = {}
    assert await submitted(group, ["a"]) == ["A"], "it goes on when the database is back"


async def test_where_the_database_goes_away_between_the_rest_is_told() -> None:
    writer = Writer()
    writer.faults = {"x": ValueError("x"), "b": Unavailable("away")}
    group = committing(writer, GroupLimits(rows=100))

    found = await submitted(group, ["a", "x", "b", "c", "d"])

    assert [str(one) for one in found] == ["A", "x", "away", "away", "away"]
    assert writer.groups[1:] == [["a"], ["x"], ["b"]]


@pytest.mark.deep
async def test_a_caller_that_left_before_its_group_has_written_nothing() -> None:
    writer = Writer()
    writer.may_go.clear()
    group = committing(writer, GroupLimits(rows=100))
    tasks = [asyncio.create_task(group.submit(item)) for item in "a"]
    await asyncio.sleep(0.01)
    tasks += [asyncio.create_task(group.submit(item)) for item in "bcd"]
    await asyncio.sleep(0.01)
    tasks[2].cancel()
    await asyncio.sleep(0.01)
    writer.may_go.set()

    found = await asyncio.gather(*tasks, return_exceptions=True)

    assert isinstance(found[2], asyncio.CancelledError)
    assert [found[0], found[1], found[3]] == ["A", "B", "D"]
    assert writer.groups == [["a"], ["b", "d"]]


@pytest.mark.deep
async def test_a_caller_cancelled_while_its_group_is_written_affects_no_other() -> None:
    writer = Writer()
    writer.may_go.clear()
    group = committing(writer, GroupLimits(rows=100))
    tasks = [asyncio.create_task(group.submit(item)) for item in "abc"]
    await asyncio.sleep(0.01)
    tasks[0].cancel()
    await asyncio.sleep(0.01)
    writer.may_go.set()

    found = await asyncio.gather(*tasks, return_exceptions=True)

    assert isinstance(found[0], asyncio.CancelledError)
    assert found[1:] == ["B", "C"]
    assert await submitted(group, ["d"]) == ["D"]


async def test_one_too_many_is_refused_at_once() -> None:
    writer = Writer()
    writer.may_go.clear()
    group = committing(writer, GroupLimits(rows=2, waiting=3))
    tasks = [asyncio.create_task(group.submit(item)) for item in "abc"]
    await asyncio.sleep(0)

    with pytest.raises(Unavailable):
        await group.submit("d")
    writer.may_go.set()
    assert await asyncio.gather(*tasks) == ["A", "B", "C"]
    assert await group.submit("d") == "D"


async def test_an_item_may_have_a_transaction_of_its_own() -> None:
    writer = Writer()
    writer.faults = {"x": ValueError("x")}
    group = committing(writer, GroupLimits(rows=100))

    alone = asyncio.gather(*map(group.submit_alone, "ab"), submitted(group, ["c", "d"]))
    assert await alone == ["A", "B", ["C", "D"]]
    assert sorted(writer.groups) == [["a"], ["b"], ["c", "d"]]
    with pytest.raises(ValueError, match="x"):
        await group.submit_alone("x")


@pytest.mark.deep
async def test_closing_ends_every_wait() -> None:
    writer = Writer()
    writer.may_go.clear()
    group = committing(writer, GroupLimits(rows=2))
    tasks = [asyncio.create_task(group.submit(item)) for item in "abcde"]
    await asyncio.sleep(0.01)

    await group.aclose()

    found = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(one, Unavailable) for one in found)
    assert (len(writer.groups), writer.written) == (1, [])
    with pytest.raises(Unavailable):
        await group.submit("f")


@pytest.mark.deep
async def test_a_write_that_is_closed_with_the_loop_leaves_no_caller_waiting() -> None:
    """As when a process ends: its tasks are cancelled, not closed."""
    writer = Writer()
    writer.may_go.clear()
    group = committing(writer, GroupLimits(rows=2))
    tasks = [asyncio.create_task(group.submit(item)) for item in "abc"]
    await asyncio.sleep(0.01)
    (running,) = (task for task in asyncio.all_tasks() if task.get_name() == "test")
    running.cancel()

    found = await asyncio.gather(*tasks, return_exceptions=True)

    assert all(isinstance(one, Unavailable) for one in found)
    writer.may_go.set()
    assert await group.submit("d") == "D", "the next caller starts a new task"


@pytest.mark.deep
async def test_many_callers_that_come_and_go_all_have_the_answer_of_their_own_item() -> None:
    writer = Writer()
    writer.faults = {f"{n}": ValueError(f"{n}") for n in range(0, 2_000, 97)}
    group = committing(writer, GroupLimits(rows=20, bytes=60, commits=3))

    async def call(n: int) -> str:
        await asyncio.sleep((n * 7919 % 50) / 5_000)
        return await group.submit(f"{n}")

    found = await asyncio.gather(*map(call, range(2_000)), return_exceptions=True)

    assert [str(one) for one in found] == [f"{n}" for n in range(2_000)]
    assert [n for n, one in enumerate(found) if isinstance(one, ValueError)] == [
        *range(0, 2_000, 97)
    ]
    assert len(set(writer.written)) == len(writer.written) == 2_000 - len(writer.faults)
    assert writer.most_at_once <= 3
