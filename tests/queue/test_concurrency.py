"""A key that does not respond takes neither the slots nor the memory of others."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID, uuid4

import pytest

from mailqueue.queue import concurrency
from mailqueue.queue.concurrency import (
    MAX_SHARE,
    MAX_STALLED_PER_SLOT,
    WAITING_PER_ROW,
    Dispatcher,
)

pytestmark = pytest.mark.anyio
SLOTS = 16


@dataclass(frozen=True)
class Row:
    key: str
    project_id: str | None = None
    id: UUID = field(default_factory=uuid4)
    claim_no: int = 1


class Endpoints:
    """Handles rows: those of `silent` keys never end, those of others at once."""

    def __init__(self) -> None:
        self.silent: set[str] = set()
        self.done: list[str] = []
        self.running: list[str] = []
        self.dispatcher = Dispatcher(
            SLOTS,
            self.handle,
            key_of=lambda row: row.key,
            expired=lambda _: None,
            max_wait=60.0,
            wants_more=lambda: None,
        )

    def add(self, rows: Sequence[Row]) -> None:
        """Dispatch rows of a claim that left none in the queue."""
        self.dispatcher.add(rows, {}, len(rows) + 1)

    async def handle(self, row: Row) -> bool:
        self.running.append(row.key)
        if row.key in self.silent:
            await asyncio.Event().wait()
        await asyncio.sleep(0)
        self.running.remove(row.key)
        self.done.append(row.key)
        return True


async def test_a_key_that_falls_silent_holds_a_quarter_of_the_slots_at_most() -> None:
    endpoints = Endpoints()
    endpoints.add([Row("a") for _ in range(100)])
    await endpoints.dispatcher.drained()
    endpoints.silent.add("a")

    endpoints.add([Row("a") for _ in range(100)])
    endpoints.add([Row("b") for _ in range(20)])
    async with asyncio.timeout(10):
        while endpoints.done.count("b") < 20:  # noqa: ASYNC110
            await asyncio.sleep(0)

    assert endpoints.running.count("a") == SLOTS // MAX_SHARE
    await endpoints.dispatcher.close()


async def test_rows_of_silent_keys_leave_room_for_claims_of_others() -> None:
    endpoints = Endpoints()
    endpoints.add([Row("good")])
    await endpoints.dispatcher.drained()
    names = [f"silent {n}" for n in range(SLOTS * WAITING_PER_ROW)]
    endpoints.silent.update(names)

    endpoints.add([Row(name) for name in names for _ in range(WAITING_PER_ROW)])

    assert endpoints.dispatcher.room > 0
    endpoints.add([Row("good")])
    async with asyncio.timeout(10):
        while endpoints.done != ["good", "good"]:  # noqa: ASYNC110
            await asyncio.sleep(0)
    await endpoints.dispatcher.close()


async def test_unproven_keys_hold_half_of_the_slots() -> None:
    endpoints = Endpoints()
    endpoints.add([Row("good")])
    await endpoints.dispatcher.drained()
    endpoints.silent.update(f"new {n}" for n in range(SLOTS))

    endpoints.add([Row(name) for name in sorted(endpoints.silent)])
    endpoints.add([Row("good")])
    async with asyncio.timeout(10):
        while endpoints.done != ["good", "good"]:  # noqa: ASYNC110
            await asyncio.sleep(0)

    assert len(endpoints.running) == SLOTS // 2
    endpoints.silent.clear()
    await endpoints.dispatcher.close()


async def test_unproven_keys_of_one_project_leave_slots_for_those_of_others() -> None:
    endpoints = Endpoints()
    for project in ("a", "b"):
        names = [f"silent {n} of {project}" for n in range(SLOTS)]
        endpoints.silent.update(names)
        endpoints.add([Row(name, project_id=project) for name in names])

    endpoints.add([Row("new", project_id="c")])
    async with asyncio.timeout(10):
        while endpoints.done != ["new"]:  # noqa: ASYNC110
            await asyncio.sleep(0)

    held = Counter(name[-1] for name in endpoints.running)
    assert held == {"a": SLOTS // 4, "b": SLOTS // 8}
    endpoints.silent.clear()
    await endpoints.dispatcher.close()


@pytest.mark.deep
async def test_silent_keys_of_many_projects_keep_a_new_one_waiting_for_a_while_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rows that take long give their slots to others; how many go on without one is bounded."""
    monkeypatch.setattr(concurrency, "STALLED_SECONDS", 0.05)
    endpoints = Endpoints()
    for project in range(20):
        names = [f"silent {n} of {project}" for n in range(SLOTS)]
        endpoints.silent.update(names)
        endpoints.add([Row(name, project_id=str(project)) for name in names])
    assert len(endpoints.silent) > SLOTS * (MAX_STALLED_PER_SLOT + 1)
    await asyncio.sleep(0)
    endpoints.add([Row("new", project_id="new")])
    async with asyncio.timeout(10):
        while endpoints.done != ["new"]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    await asyncio.sleep(1)
    stalled = SLOTS * MAX_STALLED_PER_SLOT
    assert stalled * 3 // 4 < len(endpoints.running) <= stalled + SLOTS // 2
    assert endpoints.dispatcher._taken == SLOTS // 2
    await endpoints.dispatcher.close()
    assert not endpoints.dispatcher._stalled
    assert not endpoints.dispatcher._unproven
    assert endpoints.dispatcher._taken == 0


@pytest.mark.deep
async def test_a_key_that_answers_late_keeps_its_rows_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A slow receiver that answers is not slowed further."""
    monkeypatch.setattr(concurrency, "STALLED_SECONDS", 0.02)
    endpoints = Endpoints()
    endpoints.add([Row("slow") for _ in range(100)])
    await endpoints.dispatcher.drained()
    running = list[int]()

    async def handle(row: Row) -> bool:
        endpoints.running.append(row.key)
        running.append(len(endpoints.running))
        await asyncio.sleep(0.1)
        endpoints.running.remove(row.key)
        return True

    endpoints.dispatcher._handle = handle
    endpoints.add([Row("slow") for _ in range(5 * SLOTS)])
    await endpoints.dispatcher.drained()
    assert max(running) == SLOTS // MAX_SHARE
    assert len(running) == 5 * SLOTS


def waiting(*, has_keys: bool) -> tuple[Dispatcher[Row], list[str]]:
    """Return a dispatcher whose rows end at once, and what it has asked for."""
    asked = list[str]()

    async def handle(_: Row) -> bool:
        await asyncio.sleep(0)
        return True

    dispatcher = Dispatcher(
        SLOTS,
        handle,
        key_of=(lambda row: row.key) if has_keys else None,
        expired=lambda _: None,
        max_wait=60.0,
        wants_more=lambda: asked.append("more"),
    )
    return dispatcher, asked


@pytest.mark.parametrize(("limit", "is_short"), [(SLOTS, True), (SLOTS + 1, False)])
async def test_more_rows_are_wanted_only_if_the_last_claim_took_all_it_might(
    limit: int, is_short: bool
) -> None:
    dispatcher, asked = waiting(has_keys=False)
    dispatcher.add([Row("a") for _ in range(SLOTS)], {}, limit)
    assert dispatcher.is_short is is_short, "all are handled, none waits"
    await dispatcher.drained()
    assert asked == ["more"] * SLOTS * is_short
    dispatcher.add([], {}, limit)
    assert not dispatcher.is_short, "the claim found nothing"


async def test_no_more_rows_are_wanted_while_enough_wait() -> None:
    dispatcher, asked = waiting(has_keys=False)
    count = SLOTS * WAITING_PER_ROW
    dispatcher.add([Row("a") for _ in range(count)], {}, count)
    assert not dispatcher.room
    assert not dispatcher.is_short
    await dispatcher.drained()
    assert 0 < len(asked) <= 2 * SLOTS, "once fewer wait than may be handled"


async def test_a_key_that_filled_its_room_may_have_more_rows() -> None:
    dispatcher, _ = waiting(has_keys=True)
    full = [Row("full") for _ in range(WAITING_PER_ROW)]
    dispatcher.add([*full, Row("few")], {}, 100)
    await dispatcher.drained()
    assert dispatcher.is_short
    rooms = dispatcher.rooms()
    assert rooms["full"] > WAITING_PER_ROW, "it may have more at a time, as it was answered"
    dispatcher.add([], rooms, 100)
    assert not dispatcher.is_short, "the claim found no more of it"


async def test_a_key_whose_failure_is_not_settled_wants_no_rows() -> None:
    dispatcher, asked = waiting(has_keys=True)

    async def failing(_: Row) -> bool:
        await asyncio.sleep(0)
        return False

    dispatcher._handle = failing
    rows = [Row("full") for _ in range(WAITING_PER_ROW)]
    dispatcher.add(rows, {}, 100)
    await dispatcher.drained()
    assert dispatcher.rooms() == {"full": 0}
    assert not dispatcher.is_short
    dispatcher.give_back()
    asked.clear()
    dispatcher.settled(rows[:1])
    assert dispatcher.is_short
    assert asked == ["more"]
