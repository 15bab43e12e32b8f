"""Exports in the console: begun by a form, watched, fetched and deleted."""

import csv
import io
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from mailqueue.analytics.exports.model import FILTERS
from mailqueue.console.exports.form import CONDITIONS, LABELS, wanted_export
from mailqueue.contract.exports import ExportKind
from mailqueue.core.errors import InvalidField
from tests import make
from tests.analytics.exports import steps
from tests.console.visiting import Visiting, Visitor
from tests.rows import each_row

pytestmark = pytest.mark.anyio

PROJECT = "/console/projects/default"
EXPORTS = f"{PROJECT}/exports"
NEW = f"{EXPORTS}/new"
HOSTILE = '<script>alert("1")</script>'
LAST_MONTH = {"kind": "emails", "format": "csv", "period": "last_month", "mode": "live"}
NOW = datetime(2030, 3, 31, 12, 30, tzinfo=UTC)


@pytest.fixture
async def visitor(console: Visiting) -> AsyncIterator[Visitor]:
    """A project admin of the default project."""
    async with console.visitor() as visitor:
        await console.add_user("ann", "project_admin", "default")
        await visitor.log_in("ann")
        yield visitor


async def begun(visitor: Visitor, **fields: str) -> str:
    """Begin an export by the form; return the path of its page."""
    response = await visitor.submit(NEW, NEW, **(LAST_MONTH | fields))
    assert response.status_code == 303, response.text
    return str(response.headers["location"])


async def test_an_export_is_begun_written_fetched_and_deleted_each_in_the_audit_log(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        project = await make.project_named(conn)
        await steps.finished_email(conn, project, 1, campaign_id=HOSTILE)
        await steps.finished_email(conn, project, 2)
        empty = (await visitor.get(EXPORTS)).text
        path = await begun(visitor, period="all", campaign=HOSTILE)
        waiting = (await visitor.get(path)).text
        early = await visitor.get(f"{path}/file")
        await steps.worked(console.database)
        done, listed = (await visitor.get(path)).text, (await visitor.get(EXPORTS)).text
        file = await visitor.get(f"{path}/file")
        asked = (await visitor.get(f"{path}/delete")).text
        deleted = await visitor.submit(f"{path}/delete", f"{path}/delete")
        gone, late = (await visitor.get(path)).text, await visitor.get(f"{path}/file")
        audited = await make.rows(
            conn,
            "SELECT action FROM mailqueue.audit_events WHERE action LIKE 'export.%%'"
            " AND actor LIKE '%%ann (console)%%' ORDER BY id",
        )

    assert "No export yet" in empty
    assert f'href="{NEW}"' in empty
    assert 'hx-trigger="every' in waiting
    assert early.status_code == 409
    assert "<b>1 row</b>" in done
    assert 'hx-trigger="every' not in done
    assert f'href="{path}/file" download' in done
    assert f'href="{path}"' in listed
    assert HOSTILE not in done + listed
    assert "&lt;script&gt;" in listed
    rows = list(csv.DictReader(io.StringIO(file.text)))
    assert [row["recipient_email"] for row in rows] == ["person1@example.com"]
    assert file.headers["content-disposition"].endswith('.csv"')
    assert "sandbox" in file.headers["content-security-policy"]
    assert "The file with 1 row is deleted" in asked
    assert deleted.headers["location"] == f"{path}?done=deleted"
    assert "Its file was deleted" in gone
    assert f"{path}/file" not in gone
    assert late.status_code == 409
    assert [row[0] for row in audited] == ["export.begun", "export.fetched", "export.deleted"]


async def test_last_months_emails_take_four_clicks(console: Visiting, visitor: Visitor) -> None:
    overview = (await visitor.get(f"{PROJECT}/overview")).text
    assert f'href="{EXPORTS}"' in overview  # 1
    assert f'href="{NEW}"' in (await visitor.get(EXPORTS)).text  # 2
    fields = await visitor.form(NEW, NEW)
    form = (await visitor.get(NEW)).text
    for name, first in (("period", "last_month"), ("format", "csv"), ("mode", "live")):
        choice = form.partition(f'<select name="{name}">')[2].partition("</select>")[0]
        shown = choice.partition("<option")[2].partition("</option>")[0]
        assert f'value="{first}"' in shown or shown.endswith(f">{first}")
        assert " selected" not in choice
        fields[name] = first  # what a browser sends of an untouched form
    response = await visitor.post(NEW, fields)  # 3
    await steps.worked(console.database)
    path = response.headers["location"]

    assert f'href="{path}/file"' in (await visitor.get(path)).text  # 4


async def test_a_form_begins_one_export_however_often_it_is_sent(
    console: Visiting, visitor: Visitor
) -> None:
    fields = await visitor.form(NEW, NEW) | LAST_MONTH
    first, again = await visitor.post(NEW, fields), await visitor.post(NEW, fields)
    async with console.connection() as conn:
        count = await make.scalar(conn, "SELECT count(*) FROM mailqueue.exports")

    assert first.headers["location"].startswith(f"{EXPORTS}/")
    assert again.headers["location"] == f"{EXPORTS}?done=before"
    assert "was not done again" in (await visitor.get(f"{EXPORTS}?done=before")).text
    assert count == 1


@each_row(
    "fields, field",
    [
        ({"period": "days", "since": "2030-02-30"}, "since"),
        ({"period": "days", "since": "2020-02-02", "until": "2020-02-01"}, "until"),
        ({"period": "ages"}, "period"),
        ({"format": "xml"}, "format"),
        ({"status": HOSTILE}, "status"),
        ({"campaign": "x" * 301}, "campaign"),
        ({"kind": "events", "type": "bounced"}, "type"),
    ],
)
async def test_a_wrong_value_stands_at_its_field_and_nothing_is_begun(
    console: Visiting, visitor: Visitor, fields: dict[str, str], field: str
) -> None:
    response = await visitor.submit(NEW, NEW, **(LAST_MONTH | fields))
    async with console.connection() as conn:
        count = await make.scalar(conn, "SELECT count(*) FROM mailqueue.exports")

    assert response.status_code == 422
    assert f'id="fault-{field}"' in response.text
    assert HOSTILE not in response.text
    assert count == 0


async def test_a_kind_that_there_is_not_and_a_sixth_unfinished_export_are_refused_above_the_form(
    console: Visiting, visitor: Visitor
) -> None:
    unknown = await visitor.submit(NEW, NEW, **(LAST_MONTH | {"kind": "secrets"}))
    for _ in range(5):
        await begun(visitor)
    sixth = await visitor.submit(NEW, NEW, **LAST_MONTH)

    assert unknown.status_code == sixth.status_code == 422
    assert "must be one of those shown" in unknown.text
    assert "has 5 exports that are not finished" in sixth.text


async def test_roles_export_what_they_may_read_here(console: Visiting, visitor: Visitor) -> None:
    emails, suppressions = await begun(visitor), await begun(visitor, kind="suppressions")
    for _ in range(2):
        await steps.worked(console.database)
    async with console.visitor() as other:
        await console.add_user("sue", "support", "default")
        await other.log_in("sue")
        form = (await other.get(NEW)).text
        mail = await other.get(f"{emails}/file")
        shown = (await other.get(suppressions)).text
        fields = await other.form(NEW, NEW) | LAST_MONTH
        refused = [
            await other.get(f"{NEW}?kind=suppressions"),
            await other.post(NEW, fields | {"kind": "suppressions"}),
            await other.get(f"{suppressions}/file"),
            await other.get(f"{suppressions}/delete"),
        ]
    async with console.visitor() as other:
        await console.add_user("vic", "viewer", "default")
        await other.log_in("vic")
        seen = (await other.get(EXPORTS)).text + (await other.get(emails)).text

    assert "kind=events" in form
    assert "kind=suppressions" not in form
    assert mail.status_code == 200
    assert [response.status_code for response in refused] == [403] * 4
    assert "/file" not in shown
    assert "Emails" in seen
    assert "/file" not in seen
    assert NEW not in seen


@pytest.mark.parametrize(
    ("form", "since", "until"),
    [
        ({"period": "last_month"}, (2030, 2, 1), datetime(2030, 3, 1, tzinfo=UTC)),
        ({"period": "this_month"}, (2030, 3, 1), None),
        ({"period": "all", "since": "2030-01-01"}, None, None),
        (
            {"period": "days", "since": "2030-01-05", "until": "2030-01-05"},
            (2030, 1, 5),
            datetime(2030, 1, 6, tzinfo=UTC),
        ),
        ({"period": "days", "until": "2030-03-31"}, None, None),
    ],
)
def test_a_period_is_whole_days_in_utc_up_to_now(
    form: dict[str, str], since: tuple[int, int, int] | None, until: datetime | None
) -> None:
    found = wanted_export({"kind": "emails", "format": "csv"} | form, NOW)

    assert found.since == (None if since is None else datetime(*since, tzinfo=UTC))
    assert found.until == until


def test_a_condition_of_another_kind_is_not_taken_and_each_has_its_words() -> None:
    form = LAST_MONTH | {"kind": "events", "campaign": "spring", "type": "complaint"}
    found = wanted_export(form, NOW)

    assert found.conditions == {"type": "complaint"}
    assert set(CONDITIONS) == set(LABELS) == {name for one in FILTERS.values() for name in one}
    with pytest.raises(InvalidField):
        wanted_export(LAST_MONTH | {"kind": "secrets"}, NOW)
    kinds = set(ExportKind) - {ExportKind.PERSON}
    assert {wanted_export(LAST_MONTH | {"kind": kind}, NOW).kind for kind in kinds} == kinds
    with pytest.raises(InvalidField):
        wanted_export(LAST_MONTH | {"kind": "person"}, NOW)
