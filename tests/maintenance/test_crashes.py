"""Killed at every step and run again: nothing is missing, nothing is twice, the books add up."""

from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.chaos.processes import fork_server
from tests.maintenance import stored_mail
from tests.maintenance.killed_process import Operator
from tests.maintenance.old_mail import LONG_AGO, months_for, old

pytestmark = pytest.mark.anyio

OF_LEAVING = (
    "archive.drafted",
    "archive.put",
    "archive.written",
    "archive.verified",
    "archive.removing",
    "archive.batch",
    "archive.removed",
)
OF_COOLING = ("archive.replaced", "archive.swapped", "archive.deleted")
OF_RESTORING = ("archive.restoring", "archive.restored")
OF_RETIRING = ("partition.detached", "partition.dropping")
OF_DELETING = ("retention.batch",)


@pytest.fixture
async def operator(
    fresh_db: str, tmp_path: Path, warm: Path, cold: Path
) -> AsyncIterator[Operator]:
    async with fork_server(tmp_path) as made:
        yield Operator(made, fresh_db, tmp_path, warm, cold)


@pytest.fixture
async def own(database: DatabaseSettings) -> AsyncIterator[Conn]:
    """A connection that commits."""
    async with connect(database) as opened:
        yield opened


class Held:
    """All mail that was created, and where each record must be."""

    def __init__(self, rows: dict[str, set[str]]) -> None:
        self._recipients = rows.pop("email_recipients")
        self._all = set().union(*rows.values())

    async def check(self, conn: Conn, operator: Operator, *, once: bool = False) -> None:
        """Check that every record is in its table or in a file; with `once`, in only one of
        them.
        """
        found = await stored_mail.everything(conn)
        found.pop("email_recipients")
        tables = set().union(*found.values())
        files = await whole_files(conn, operator)
        assert self._all - tables - set(files) == set(), "records are missing"
        assert (tables | set(files)) - self._all == set(), "records came from nowhere"
        assert await stored_mail.differences(conn) == []
        assert [line for line, times in files.items() if times > 1] == []
        if once:
            assert tables & set(files) == set(), "records are twice"


async def whole_files(conn: Conn, operator: Operator) -> Counter[str]:
    """Return the records of every file that the manifest calls good, mails without their
    recipients.
    """
    lines: Counter[str] = Counter()
    for store, path in await make.rows(
        conn, "SELECT store, path FROM mailqueue.archives WHERE state NOT IN ('writing', 'purged')"
    ):
        assert store in (operator.warm.as_uri(), operator.cold.as_uri())
        folder = operator.warm if store == operator.warm.as_uri() else operator.cold
        lines += stored_mail.lines_of(folder / path)
    # Recipients travel inside their mail, which the table does not show.
    plain = await make.rows(
        conn,
        "SELECT l.line, (l.line::jsonb - 'email_recipients')::text"
        " FROM unnest(%s::text[]) AS l(line)",
        list(lines),
    )
    return Counter({told: lines[line] for line, told in plain})


async def test_killed_at_every_step_of_leaving_nothing_is_missing(
    operator: Operator, own: Conn
) -> None:
    await make.project(own, "shop")
    await old(own, 12)
    await old(own, 5, project="shop", days=260)
    all_mail = Held(await stored_mail.everything(own))

    for point in OF_LEAVING:
        await operator.run("maintain", "archive", dies_at=point)
        await all_mail.check(own, operator)
    await operator.run("maintain", "archive")

    await all_mail.check(own, operator, once=True)
    assert set((await stored_mail.in_tables(own)).values()) == {0}
    assert set(await stored_mail.states(own)) == {"archived"}


@pytest.mark.soak
async def test_killed_at_every_step_of_every_file_nothing_is_missing(
    operator: Operator, own: Conn
) -> None:
    """Several months and projects at once, each step at its first to fourth passing."""
    for number, days in enumerate((130, 170, 260, 300, 350)):
        await make.project(own, f"p{number}")
        await old(own, 40, project=f"p{number}", days=days)
    all_mail = Held(await stored_mail.everything(own))

    for passing in (1, 4, 2, 3):
        for point in OF_LEAVING:
            await operator.run("maintain", "archive", dies_at=point, passing=passing)
            await all_mail.check(own, operator)
    await operator.run("maintain", "archive")

    await all_mail.check(own, operator, once=True)
    assert set((await stored_mail.in_tables(own)).values()) == {0}


async def test_killed_while_files_move_nothing_is_missing(operator: Operator, own: Conn) -> None:
    await old(own, 6, days=260)
    all_mail = Held(await stored_mail.everything(own))
    await operator.run("maintain", "archive")
    await own.execute(
        "UPDATE mailqueue.retention_rules SET warm_days = 100, keep_days = 2557"
        " WHERE kind IN ('email_history', 'send_logs', 'email_contents')"
    )

    for point in OF_COOLING:
        await operator.run("maintain", "archive", dies_at=point)
        await all_mail.check(own, operator, once=True)
    await operator.run("maintain", "archive")

    await all_mail.check(own, operator, once=True)
    assert {path.parent.parent.name for path in stored_mail.files(operator.warm)} <= {
        "email_events"
    }
    assert len(stored_mail.files(operator.cold)) == 3


async def test_killed_while_records_come_back_nothing_is_missing(
    operator: Operator, own: Conn
) -> None:
    await old(own, 6)
    before = await stored_mail.everything(own)
    all_mail = Held(dict(before))
    await operator.run("maintain", "archive", "partitions")

    for point in OF_RESTORING:
        await operator.run("archive", "restore", "--project", "default", dies_at=point)
        await all_mail.check(own, operator)
    await operator.run("archive", "restore", "--project", "default")

    assert await stored_mail.everything(own) == before
    await all_mail.check(own, operator)


async def test_killed_while_a_month_is_retired_the_next_run_ends_it(
    operator: Operator, own: Conn
) -> None:
    await old(own, 3)
    await operator.run("maintain", "archive")

    for point in OF_RETIRING:
        await operator.run("maintain", "partitions", dies_at=point)
    await operator.run("maintain", "partitions")

    assert await make.scalar(own, LEFT_OVER) == 0
    assert await stored_mail.differences(own) == []
    await months_for(own, LONG_AGO)  # what is gone can come back


async def test_killed_while_records_are_deleted_the_next_run_ends_it(
    operator: Operator, own: Conn
) -> None:
    await old(own, 4)
    await own.execute(
        "UPDATE mailqueue.retention_rules SET warm_days = NULL, keep_days = 90,"
        " hot_days = 90 WHERE kind IN ('email_history', 'send_logs')"
    )

    for point in OF_DELETING:
        await operator.run("maintain", "retention", dies_at=point)
        assert await stored_mail.differences(own) == []
    await operator.run("maintain", "retention")

    left = await stored_mail.in_tables(own)
    assert (left["email_history"], left["send_logs"]) == (0, 0)
    assert await stored_mail.differences(own) == []


LEFT_OVER = """
SELECT count(*) FROM pg_class AS c
 WHERE c.relnamespace = 'mailqueue'::regnamespace
   AND c.relkind = 'r' AND c.relname ~ '_[0-9]{4}_[0-9]{2}$'
   AND (NOT c.relispartition
        OR right(c.relname, 7) < to_char(now() - interval '2 months', 'YYYY_MM'))
"""
