"""Files of exports have every row once, in each format, and only rows that match."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta

import pytest

from mailqueue.analytics.exports import writing
from mailqueue.analytics.exports.model import COLUMNS
from mailqueue.contract.exports import ExportFormat, ExportKind
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.analytics.exports import steps

pytestmark = pytest.mark.anyio


async def test_queued_and_finished_emails_are_each_exported_once(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        other = await make.project(conn, "other")
        ids = [await steps.finished_email(conn, project, n) for n in range(3)]
        ids += [await make.queued_email(conn, project_id=project) for _ in range(4)]
        await make.queued_email(conn, project_id=other)
        text = await steps.written(database, conn, project)

        rows = [json.loads(line) for line in text.splitlines()]
        assert [row["id"] for row in rows] == [str(one) for one in sorted(ids)]
        assert {row["status"] for row in rows} == {"cancelled", "pending"}


@pytest.mark.parametrize("kind", steps.KINDS)
async def test_each_kind_has_its_columns_in_each_format(
    database: DatabaseSettings, kind: ExportKind
) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        for number in range(5):
            await steps.rows_of_each_kind(conn, project, number)
        lines = await steps.written(database, conn, project, kind.value, "ndjson")
        array = await steps.written(database, conn, project, kind.value, "json")
        table = await steps.written(database, conn, project, kind.value, "csv")

        rows = [json.loads(line) for line in lines.splitlines()]
        assert len(rows) >= 5
        assert {tuple(row) for row in rows} == {COLUMNS[kind]}
        assert json.loads(array) == rows
        found = list(csv.DictReader(io.StringIO(table)))
        assert [tuple(row) for row in found] == [COLUMNS[kind]] * len(rows)
        assert [row[COLUMNS[kind][0]] for row in found] == [
            str(row[COLUMNS[kind][0]]) for row in rows
        ]


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("ndjson", ""),
        ("json", "[\n\n]\n"),
        ("csv", ",".join(COLUMNS[ExportKind.EVENTS]) + "\r\n"),
    ],
)
async def test_a_file_without_rows_is_valid(
    database: DatabaseSettings, form: str, expected: str
) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        assert await steps.written(database, conn, project, "events", form) == expected


async def test_only_rows_that_match_are_exported(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        spring = await make.queued_email(
            conn, project_id=project, campaign_id="spring", tags=["a", "b"]
        )
        done = await steps.finished_email(conn, project, 1, campaign_id="autumn")

        async def ids(
            kind: str = "emails",
            key: str = "id",
            since: datetime | None = None,
            until: datetime | None = None,
            is_test: bool = False,
            **where: str,
        ) -> list[str]:
            text = await steps.written(
                database,
                conn,
                project,
                kind,
                since=since,
                until=until,
                is_test=is_test,
                where=where,
            )
            return [json.loads(line)[key] for line in text.splitlines()]

        assert await ids(campaign="spring") == [str(spring)]
        assert await ids(tag="b") == [str(spring)]
        assert await ids(status="cancelled") == [str(done)]
        assert await ids("recipients", "email_id", status="cancelled") == [str(done)]
        assert await ids(category="marketing") == []
        hour = timedelta(hours=1)
        now = datetime.now(UTC)
        assert len(await ids(since=now - hour, until=now + hour)) == 2
        assert await ids(until=now - hour) == []
        assert await ids(is_test=True) == []


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_a_cell_that_a_spreadsheet_would_compute_is_marked(first: str) -> None:
    row = dict.fromkeys(COLUMNS[ExportKind.EVENTS]) | {"detail": f"{first}1+1"}
    part = writing.part_of([json.dumps(row)], ExportKind.EVENTS, ExportFormat.CSV)

    table = writing.opening(ExportKind.EVENTS, ExportFormat.CSV) + part
    (found,) = csv.DictReader(io.StringIO(table.decode(), newline=""))
    assert found["detail"] == f"'{first}1+1"


async def test_each_recipient_of_an_email_is_a_row_with_what_became_of_it(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        both = await make.queued_email(conn, project_id=project, recipients=2)
        await conn.execute(
            "INSERT INTO mailqueue.email_recipients (email_id, position, project_id, kind, address)"
            " VALUES (%(id)s, 0, %(project)s, 'to', 'ann@example.com'),"
            " (%(id)s, 1, %(project)s, 'cc', 'bob@example.com')",
            {"id": both, "project": project},
        )
        for kind in ("delivered", "opened", "opened"):
            await steps.event(conn, project, both, kind, "bob@example.com")
        text = await steps.written(database, conn, project, "recipients")

        ann, bob = [json.loads(line) for line in text.splitlines()]
        assert (ann["recipient_email"], ann["type"], ann["opens"]) == ("ann@example.com", "to", 0)
        assert (bob["recipient_email"], bob["type"], bob["opens"]) == ("bob@example.com", "cc", 2)
        assert ann["delivered_at"] is None
        assert bob["delivered_at"] is not None
