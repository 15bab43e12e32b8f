"""Each occurrence has one run, also while schedulers die and the database's clock is moved."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count, cycle, islice
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.migrate import migrate
from mailqueue.db.pool import connect
from mailqueue.db.provision import provision
from mailqueue.embedded.binaries import find_binaries
from mailqueue.embedded.cluster import Cluster
from mailqueue.embedded.service_user import Account
from mailqueue.process.groups import queue_children
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.chaos.scenarios.clocks import faketime_library
from tests.conftest import THROWAWAY
from tests.queue.kernel.pools import end, pool_of, prepare, processes, until
from tests.schedules import turning

pytestmark = [pytest.mark.anyio, pytest.mark.faketime]
SCHEDULERS = 4
NAMES = ("schedules", "schedule-runs")
BEGIN = datetime(2026, 10, 25, 0, 40, tzinfo=UTC)
"""20 minutes before clocks in Berlin are set back."""
MOVES = (15, -7, 12, -11, 16)
"""Minutes by which the clock is moved, in turn."""
RULES = {
    "minutes": ("* * * * *", "Europe/Berlin"),
    "sevenths": ("*/7 * * * *", "Australia/Lord_Howe"),
    "quarters": ("3,18,33,48 * * * *", "America/New_York"),
}
ONCE = 20
IS_DONE = """
    SELECT NOT EXISTS (SELECT FROM mailqueue.schedules AS s
                        WHERE s.status = 'assigned' OR s.plan_after IS NOT NULL
                           OR s.status = 'pending' AND s.next_run_at <= clock_timestamp())
"""
RUNS = """
    SELECT s.name, array_agg(r.occurrence ORDER BY r.occurrence)
      FROM mailqueue.schedules AS s JOIN mailqueue.schedule_runs AS r ON r.schedule_id = s.id
     GROUP BY s.id
"""
BOOKS = """
    SELECT (SELECT count(*) FROM mailqueue.schedule_runs),
           (SELECT sum(run_count) FROM mailqueue.schedules),
           (SELECT count(*) FROM mailqueue.email_queue),
           (SELECT count(*) FROM mailqueue.batches)
"""
Kill = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class ClockedAccount(Account):
    """An account whose server reads the distance of its clock from the real one in a file."""

    library: str = ""
    clock: Path = Path()

    def spawn(self, command: list[str], *, log: int) -> Any:
        """Start a server with that clock; its waits take real time."""
        words = (
            f"LD_PRELOAD={self.library}",
            f"FAKETIME_TIMESTAMP_FILE={self.clock}",
            "FAKETIME_NO_CACHE=1",
            "FAKETIME_DONT_FAKE_MONOTONIC=1",
            "DONT_FAKE_MONOTONIC=1",
        )
        return Account.spawn(self, ["/usr/bin/env", *words, *command], log=log)


class Clock:
    """The clock of the server."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.ahead = BEGIN - datetime.now(UTC)
        self.move(timedelta(0))

    def move(self, by: timedelta) -> None:
        """Move it, at once for all sessions."""
        self.ahead += by
        new = self._file.with_suffix(".new")
        new.write_text(f"{round(self.ahead.total_seconds()):+d}\n")
        new.chmod(0o644)
        new.rename(self._file)


@pytest.fixture
def clock(reachable_folder: Path) -> Clock:
    return Clock(reachable_folder / "clock")


@pytest.fixture
def clocked(clock: Clock, reachable_folder: Path, service_user: Account) -> Iterator[str]:
    """The connection string of the superuser of a server with that clock."""
    assert clock is not None
    with _server(reachable_folder, service_user) as url:
        yield url


@contextmanager
def _server(folder: Path, user: Account) -> Iterator[str]:
    home = folder / "clocked"
    home.mkdir()
    home.chmod(0o755)
    found = find_binaries()
    if not user.can_enter(found.bin / "postgres"):
        found = found.copied(home / "postgresql")
    account = ClockedAccount(
        user.name,
        user.uid,
        user.gid,
        user.is_me,
        library=faketime_library() or "",
        clock=folder / "clock",
    )
    cluster = Cluster(home.resolve(), found, account, THROWAWAY)
    cluster.make()
    postmaster, process = cluster.start()
    try:
        yield cluster.superuser_url(postmaster.port)
    finally:
        cluster.stop(process)


@pytest.mark.parametrize(
    ("running", "kills"),
    [
        pytest.param("processes", 4, id="short"),
        pytest.param(
            "commands", 40, id="long", marks=[pytest.mark.soak, pytest.mark.timeout(1500)]
        ),
    ],
)
async def test_four_schedulers_of_which_one_is_killed_each_second_run_each_occurrence_once(
    running: str,
    kills: int,
    clock: Clock,
    clocked: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The clock of the database is moved forward and back meanwhile, over a change of zones."""
    await provision(DatabaseSettings(Secret(clocked)), role="clocked", password="c", database="c")
    place = clocked.rpartition("@")[2].partition("/")[0]
    database = DatabaseSettings(Secret(f"postgresql://clocked:c@{place}/c"))
    await migrate(database, progress=lambda _: None)
    prepare(monkeypatch, database, tmp_path)
    async with connect(database) as conn:
        await conn.execute(make.NOTHING_DUE)
        await _add(conn)
        runs = _processes(conn, tmp_path) if running == "processes" else _commands(tmp_path)
        async with runs as kill:
            await _all_are_done(conn)
            for minutes in islice(cycle(MOVES), kills):
                clock.move(timedelta(minutes=minutes))
                await asyncio.sleep(1)
                await kill()
            clock.move(timedelta(minutes=30))  # and all leases are over
            await _all_are_done(conn)
            until_ = await make.scalar(conn, "SELECT clock_timestamp()")
        await _compare(conn, until_.astimezone(UTC), passed=timedelta(minutes=25 * kills // 5))


async def _add(conn: Conn) -> None:
    for name, (cron, zone) in RULES.items():
        await turning.put(
            conn, name, schedule_type="cron", cron_expression=cron, timezone=zone, missed="all"
        )
    for n in range(1, ONCE + 1):
        at = (BEGIN + timedelta(minutes=n, seconds=30)).isoformat()
        await turning.put(conn, f"once {n}", schedule_type="once", run_at=at)


async def _compare(conn: Conn, until_: datetime, *, passed: timedelta) -> None:
    found = {name: [one.astimezone(UTC) for one in at] for name, at in await make.rows(conn, RUNS)}
    for name, (cron, zone) in RULES.items():
        since, last = found[name][0], found[name][-1]
        assert since - BEGIN < timedelta(minutes=30)
        assert until_ - timedelta(minutes=30) < last <= until_, name
        assert last - since > passed, name
        assert found[name] == _expected(cron, zone, since, last), name
    once = [at for n in range(1, ONCE + 1) for at in found[f"once {n}"]]
    assert once == [BEGIN + timedelta(minutes=n, seconds=30) for n in range(1, ONCE + 1)]
    ((runs, counted, mails, batches),) = await make.rows(conn, BOOKS)
    assert runs == counted == mails == batches == sum(map(len, found.values()))


def _expected(cron: str, zone: str, since: datetime, last: datetime) -> list[datetime]:
    """Return the minutes of a span whose number on the clock of a zone is in an expression."""
    field = cron.split(maxsplit=1)[0]
    wanted = range(0, 60, int(field[2:] or 1)) if field[0] == "*" else map(int, field.split(","))
    minutes, shown = set(wanted), ZoneInfo(zone)
    span = range(int((last - since) / timedelta(minutes=1)) + 1)
    every = (since + timedelta(minutes=n) for n in span)
    return [one for one in every if one.astimezone(shown).minute in minutes]


async def _all_are_done(conn: Conn) -> None:
    """Return when no schedule has an occurrence that is due."""

    async def is_done() -> bool:
        return bool(await make.scalar(conn, IS_DONE))

    await until(is_done, lambda: make.rows(conn, "SELECT * FROM mailqueue.schedules"))


@asynccontextmanager
async def _processes(conn: Conn, folder: Path) -> AsyncIterator[Kill]:
    """Run schedulers under a parent, which starts one again that is killed."""

    async def kill() -> None:
        living = await processes(conn)
        if living:
            end(living[0], signal.SIGKILL)

    groups = [queue_children(NAMES) for _ in range(SCHEDULERS)]
    async with pool_of(NAMES, folder, groups=groups):
        yield kill


@asynccontextmanager
async def _commands(folder: Path) -> AsyncIterator[Kill]:
    """Run schedulers as commands, which are killed with all their children, as a host is lost.

    Each is replaced, and the replacement runs before the next one is killed.
    """
    running: list[asyncio.subprocess.Process] = []
    numbers = count()

    async def start() -> None:
        log = folder / f"scheduler{next(numbers)}.log"
        with log.open("wb") as written:
            running.append(
                await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "mailqueue", "worker", *NAMES),
                    stderr=written,
                    start_new_session=True,
                )
            )

        async def is_running() -> bool:
            return "worker.started" in log.read_text()

        await until(is_running, lambda: asyncio.to_thread(log.read_text))

    async def kill() -> None:
        lost = running.pop(0)
        os.killpg(lost.pid, signal.SIGKILL)
        await lost.wait()
        await start()

    async with AsyncExitStack() as stack:
        stack.push_async_callback(_stop, running)
        for _ in range(SCHEDULERS):
            await start()
        yield kill


async def _stop(running: list[asyncio.subprocess.Process]) -> None:
    for one in running:
        one.terminate()
    await asyncio.gather(*(one.wait() for one in running))
