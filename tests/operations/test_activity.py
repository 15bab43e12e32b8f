"""How old the snapshot of what the platform does may be, by what it takes to read it."""

from collections.abc import Iterator

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.operations import activity
from mailqueue.operations.activity import MAX_AGE_SECONDS, PACE, REFRESH_SECONDS, Activity
from mailqueue.operations.traffic import Traffic

pytestmark = pytest.mark.anyio


class Clock:
    """A clock that only reads and `pass_` move."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.reads = 0
        self.takes: Iterator[float] = iter(())

    async def read(self, _activity: Activity, _conn: Conn) -> float:
        took = next(self.takes)
        self.reads += 1
        self.now += took
        return took

    async def asked_after(self, seconds: float, seen: Activity) -> int:
        """Ask for a snapshot after that time; return how often it has been read in all."""
        self.now += seconds
        await seen.refresh(None)  # type: ignore[arg-type]
        return self.reads


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()

    async def nothing(_traffic: Traffic, _conn: Conn) -> None:
        return None

    monkeypatch.setattr(activity, "monotonic", lambda: made.now)
    monkeypatch.setattr(Activity, "_read", lambda seen, conn: made.read(seen, conn))
    monkeypatch.setattr(Traffic, "read_past", nothing)
    return made


async def test_one_slow_read_makes_no_snapshot_old(clock: Clock) -> None:
    seen = Activity()
    clock.takes = iter([3.0, 0.01, 3.0, 0.01])
    reads = [await clock.asked_after(REFRESH_SECONDS, seen) for _ in range(4)]
    assert reads == [1, 2, 3, 4]


async def test_what_always_takes_long_is_read_less_often(clock: Clock) -> None:
    seen = Activity()
    clock.takes = iter([0.2] * 4)
    await clock.asked_after(0, seen)
    assert await clock.asked_after(REFRESH_SECONDS, seen) == 2
    assert await clock.asked_after(0.2 * PACE - 1, seen) == 2
    assert await clock.asked_after(1, seen) == 3


async def test_no_snapshot_is_older_than_the_limit(clock: Clock) -> None:
    seen = Activity()
    clock.takes = iter([60.0] * 3)
    await clock.asked_after(0, seen)
    await clock.asked_after(REFRESH_SECONDS, seen)
    assert await clock.asked_after(MAX_AGE_SECONDS - 1, seen) == 2
    assert await clock.asked_after(1, seen) == 3
