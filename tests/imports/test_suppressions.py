"""Imports of suppressions: lines are taken as those of a list that is imported at once."""

import pytest

from mailqueue.contract.background import ImportKind
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.imports import steps

pytestmark = pytest.mark.anyio

SUPPRESSIONS = ImportKind.SUPPRESSIONS
FILE = (
    "Email,Reason,Category,Detail,Expires_at\n"
    "Ann@example.com,complaint,,,\n"
    "ann@example.com,,,,\n"
    "ben@example.com,mailbox full,news,,2090-01-01\n"
    "nobody,,,,\n"
    "eve@example.com,,,,\n"
    "kim@example.com,,,said so,2030-01-01T00:00:00Z\n"
)


async def test_lines_are_suppressed_and_refused_ones_are_named_by_line_column_and_reason(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        begun = await steps.begun(conn, project, FILE, kind=SUPPRESSIONS, reason="unsubscribe")
        await steps.worked(database)
        done = await steps.found(conn, project, begun.id)
        stored = await make.rows(
            conn,
            "SELECT address, reason, detail, source, nullif(expires_at, 'infinity') IS NULL"
            " FROM mailqueue.suppressions ORDER BY address",
        )

    assert (begun.kind, begun.options) == (SUPPRESSIONS, {"reason": "unsubscribed"})
    assert (done.state, done.lines_read, done.refused) == ("done", 6, 2)
    assert done.taken == {"added": 3, "there_already": 1}
    assert [(one.line, one.column) for one in done.refusals] == [(4, "expires_at"), (5, "email")]
    assert stored == [
        ("ann@example.com", "complaint", None, "tests", True),
        ("eve@example.com", "unsubscribed", None, "tests", True),
        ("kim@example.com", "unsubscribed", "said so", "tests", False),
    ]


async def test_lines_of_erased_persons_are_neither_taken_nor_refused(
    database: DatabaseSettings,
) -> None:
    lines = f"email,email_hash\n,{'a' * 64}\nerased@erased.invalid,\nzoe@example.com,{'b' * 64}\n"
    async with connect(database) as conn:
        project = await make.project_named(conn)
        begun = await steps.begun(conn, project, lines, kind=SUPPRESSIONS)
        await steps.worked(database)
        done = await steps.found(conn, project, begun.id)

    assert (done.state, done.taken, done.refused) == ("done", {"added": 1}, 0)


async def test_lines_of_another_project_are_not_touched(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        project, other = await make.project_named(conn), await make.project(conn, "other")
        begun = [
            await steps.begun(conn, each, steps.csv_of(3), kind=SUPPRESSIONS)
            for each in (project, other)
        ]
        await steps.worked(database)
        states = [
            (await steps.found(conn, each, one.id)).taken
            for each, one in zip((project, other), begun, strict=True)
        ]
        kept = await make.rows(
            conn,
            "SELECT project_id, count(*)::integer FROM mailqueue.suppressions"
            " GROUP BY 1 ORDER BY 1",
        )

    assert states == [{"added": 3}, {"added": 3}]
    assert kept == sorted([(project, 3), (other, 3)])


async def test_an_erasure_destroys_a_file_of_suppressions_too(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        begun = await steps.begun(conn, project, steps.csv_of(1), kind=SUPPRESSIONS)
        await steps.erased(conn, project, "person0@example.com")
        await steps.worked(database)

        assert (await steps.found(conn, project, begun.id)).state == "erased"
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.suppression_lines") == 0


async def test_a_reason_that_is_none_begins_no_import(conn: Conn) -> None:
    project = await make.project_named(conn)
    with pytest.raises(InvalidField, match="reason"):
        await steps.begun(conn, project, "email\n", kind=SUPPRESSIONS, reason="because")

    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.imports") == 0
