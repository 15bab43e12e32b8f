"""The example that the platform's document gives of a schedule, as it stands there."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.templates.model import NewText
from tests import make
from tests.api.support.calling import Calling, error_of
from tests.contacts.sends import steps
from tests.schedules import turning
from tests.templates.making import published

pytestmark = pytest.mark.anyio

EXAMPLE = """
{
  "name": "Weekly Digest",
  "schedule_type": "cron",
  "cron_expression": "0 9 * * 1",
  "timezone": "America/New_York",
  "template_slug": "weekly-digest",
  "payload": {
    "to": ["subscribers-segment"],
    "variables": { "Edition": "{{.CurrentWeek}}" }
  }
}
"""
OURS = EXAMPLE.replace("{{.CurrentWeek}}", "{{ run.week }}")


async def prepared(conn: Conn) -> None:
    """Add the template and the list that the example names."""
    project = await make.project_named(conn)
    await make.sender_account(conn)
    words = NewText("Digest {{ Edition }}", None, "Week {{ Edition }}, {{ contact.email }}")
    await published(conn, project, slug="weekly-digest", words=words)
    await steps.listed(conn, project, 3, name="subscribers-segment")


async def test_the_example_of_the_document_sends_to_the_list_with_the_week_of_the_run(
    api: Calling,
) -> None:
    async with connect(api.database) as conn:
        await prepared(conn)
    made = await api.post("/v1/schedule", json.loads(OURS))
    assert made.status_code == 201, made.text
    path = f"/v1/schedule/{made.json()['id']}"
    ahead = (await api.get(f"{path}/next-runs?n=5")).json()["data"]
    assert {one["local_time"][10:] for one in ahead} == {"T09:00:00"}
    assert {datetime.fromisoformat(one["local_time"]).weekday() for one in ahead} == {0}

    async with connect(api.database) as conn:
        await turning.due(conn, UUID(made.json()["id"]))
        await turning.turn(conn)
        await turning.make_runs(conn)
        mails: list[tuple[str, dict[str, Any]]] = await make.rows(
            conn,
            "SELECT recipient_email, custom_data -> 'variables' FROM mailqueue.email_queue"
            " ORDER BY recipient_email",
        )

    (run,) = (await api.get(f"{path}/runs")).json()["data"]
    at = datetime.fromisoformat(run["scheduled_at"]).astimezone(UTC)
    assert [address for address, _ in mails] == [
        f"subscribers-segment{n}@example.com" for n in range(3)
    ]
    assert {values["Edition"] for _, values in mails} == {at.strftime("%G-W%V")}
    assert [values["contact"]["email"] for _, values in mails] == [address for address, _ in mails]
    assert (run["status"], run["queued"]) == ("done", 3)


async def test_the_template_syntax_of_the_document_is_refused_by_field(api: Calling) -> None:
    async with connect(api.database) as conn:
        await prepared(conn)

    refused = await api.post("/v1/schedule", json.loads(EXAMPLE))

    assert refused.status_code == 422
    assert error_of(refused)["field"].startswith("payload.variables")
