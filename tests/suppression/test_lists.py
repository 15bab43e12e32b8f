"""Importing and exporting lists of addresses."""

import asyncio
import csv
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import orjson
import pytest

from mailqueue.contract.suppression import SuppressionReason
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.suppression import entries
from mailqueue.suppression.lists import importing
from mailqueue.suppression.lists.exporting import Format, export
from mailqueue.suppression.model import ImportTally
from tests import make
from tests.suppression.listing import added, audits, imported

pytestmark = pytest.mark.anyio


BOUNCE = "SELECT mailqueue.record_bounce(%s, %s, %s, 'said no', '5.1.1', NULL, NULL)"


async def exported(conn: Conn, form: Format, *, project: str = "default") -> bytes:
    @asynccontextmanager
    async def lend() -> AsyncIterator[Conn]:
        yield conn

    return b"".join([piece async for piece in export(lend, project, form=form)])


async def test_good_lines_are_taken_in_and_bad_ones_counted(conn: Conn) -> None:
    await added(conn, "there@example.com")

    tally = await imported(
        conn,
        "email,reason\nA@example.com,hard_bounce\nnobody,\nthere@example.com,\na@example.com,manual\n"
        "b@example.com,why not\n",
    )

    assert (tally.added, tally.there_already, tally.bad) == (1, 2, 2)
    assert [bad.line for bad in tally.errors] == [3, 6]
    assert {(one.email, one.reason) for one in (await entries.list_page(conn, "default")).data} == {
        ("a@example.com", SuppressionReason.HARD_BOUNCE),
        ("there@example.com", SuppressionReason.MANUAL),
    }
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.suppression_lines") == 0


async def test_a_dry_run_counts_and_leaves_nothing(conn: Conn) -> None:
    tally = await imported(conn, "email\na@example.com\nb@example.com\nno\n", is_trial=True)

    assert (tally.added, tally.bad) == (2, 1)
    assert (await entries.list_page(conn, "default")).data == []
    assert await audits(conn, "suppressions.added") == []


async def test_a_list_of_a_hundred_thousand_is_one_copy(
    conn: Conn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "LINES_PER_COMMIT", 1_000)
    steps: list[int] = []
    content = "".join(f"p{n}@example.com\n" for n in range(2_500))
    tally = ImportTally()

    await importing.import_list(
        conn,
        "default",
        file=io.BytesIO(content.encode()),
        by="tests",
        tally=tally,
        advance=steps.append,
    )

    assert steps == [1_000, 1_000, 500]
    assert tally.added == 2_500


async def test_what_was_given_out_can_be_taken_in_again(conn: Conn) -> None:
    until = datetime.now(UTC).replace(microsecond=0) + timedelta(days=3_000)
    await added(conn, "+a@example.com", "=b@example.com", "'=c@example.com", reason="complaint")
    await added(conn, "d@example.com", category="marketing", detail='=1+1,"x"')
    await added(conn, "e@bücher.example", expires_at=until.isoformat())
    before = await everything(conn)

    for form in Format:
        given = await exported(conn, form)
        await conn.execute("DELETE FROM mailqueue.suppressions")
        tally = await imported(conn, given.decode())
        assert tally.bad == 0, tally.errors
        assert await everything(conn) == before


async def test_a_list_that_was_given_out_after_an_erasure_can_be_taken_in(conn: Conn) -> None:
    await added(conn, "kept@example.com", "ann@example.com", reason="complaint")
    project = await make.project_named(conn)
    await make.rows(
        conn,
        "SELECT mailqueue.begin_erasure(%s, ARRAY['ann@example.com'], true, 'tests')",
        project,
    )
    before = await everything(conn)
    assert [row[0] for row in before] == ["erased@erased.invalid", "kept@example.com", None]

    for form in Format:
        given = (await exported(conn, form)).decode()

        again = await imported(conn, given)
        assert (again.added, again.there_already, again.bad, again.erased) == (0, 1, 0, 2)
        assert await everything(conn) == before

        await conn.execute("DELETE FROM mailqueue.suppressions WHERE address = 'kept@example.com'")
        tally = await imported(conn, given)
        assert (tally.added, tally.there_already, tally.bad, tally.erased) == (1, 0, 0, 2)
        assert await everything(conn) == before


async def test_a_line_without_an_address_is_bad_if_its_hash_is_none(conn: Conn) -> None:
    lines = f"email,email_hash\n,nothing\n,\n,{'a' * 63}\n,{'a' * 64}\n"

    tally = await imported(conn, lines)

    assert ([bad.line for bad in tally.errors], tally.erased) == ([2, 3, 4], 1)


async def everything(conn: Conn) -> list[tuple[object, ...]]:
    return await make.rows(
        conn,
        "SELECT address, category, reason, detail, expires_at::text, address_hash"
        " FROM mailqueue.suppressions ORDER BY address, category",
    )


async def test_no_cell_is_taken_for_a_formula(conn: Conn) -> None:
    await added(conn, "=cmd|x!A1@example.com", detail='@SUM(1)&"x"')

    rows = list(csv.reader(io.StringIO((await exported(conn, Format.CSV)).decode())))

    assert rows[0][0] == "email"
    assert rows[1][0] == "'=cmd|x!a1@example.com"
    assert rows[1][3] == '\'@SUM(1)&"x"'


async def test_a_long_list_is_given_out_whole(conn: Conn) -> None:
    await imported(conn, "".join(f"p{n}@example.com\n" for n in range(4_001)))
    assert orjson.loads(await exported(conn, Format.JSON, project=await empty(conn))) == []

    given = orjson.loads(await exported(conn, Format.JSON))

    assert sorted(one["email"] for one in given) == sorted(
        f"p{n}@example.com" for n in range(4_001)
    )


async def empty(conn: Conn) -> str:
    await make.project(conn, "empty")
    return "empty"


async def test_two_lists_at_once_do_not_stop_each_other(database: DatabaseSettings) -> None:
    """In opposite order, and while the worker records bounces of the same addresses."""
    emails = [f"p{n}@example.com" for n in range(300)]

    async def one(order: list[str]) -> ImportTally:
        async with connect(database) as own:
            return await imported(own, "\n".join(order))

    tallies = await asyncio.gather(*(one(emails[::step]) for step in (1, -1, 1, -1)))

    assert sum(tally.added for tally in tallies) == 300
    assert sum(tally.there_already for tally in tallies) == 900
