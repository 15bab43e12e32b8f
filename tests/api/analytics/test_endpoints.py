"""Counts and rates over HTTP."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import pytest

from mailqueue.analytics import store
from mailqueue.analytics.model import StatsScope
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.events.model import Type
from mailqueue.projects.keys.manage import issue_key
from tests import make
from tests.analytics import folding
from tests.api.support.administering import administering
from tests.api.support.calling import Calling, error_of
from tests.events.sent_mail import NOON, event, left, told
from tests.rows import each_row

pytestmark = pytest.mark.anyio
BASE = "/v1/analytics"
TIME = {
    "from": (NOON - timedelta(days=21)).isoformat(),
    "to": (NOON + timedelta(hours=2)).isoformat(),
}


async def furnish(conn: Conn) -> tuple[int, int]:
    """Write mail of an account that reports deliveries and of one that does not."""
    loud = await make.sender_account(
        conn, name="loud", provider="sendgrid", smtp_host=None, smtp_port=None
    )
    mute = await make.sender_account(conn, name="mute")
    for number in range(4):
        mail = await left(conn, loud, campaign_id="spring")
        kinds = [Type.OPENED, Type.OPENED] if number else [Type.HARD_BOUNCE]
        kinds += [Type.DELIVERED] if number else []
        await told(conn, *(event(one, email_id=mail, account=loud) for one in kinds))
    for _ in range(6):
        await left(conn, mute, campaign_id="autumn")
    await make.logged_attempts(conn, "loud", 30, "sent", 100)
    await folding.caught_up(conn)
    return loud, mute


async def get(api: Calling, path: str, **query: Any) -> dict[str, Any]:
    answer = await api.get(f"{path}?{urlencode(TIME | query)}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_rates_name_what_they_are_a_part_of_and_the_delivery_rate_leaves_silent_accounts_out(
    api: Calling,
) -> None:
    async with connect(api.database) as conn:
        await furnish(conn)

    found = await get(api, f"{BASE}/overview", compare="true")

    counts, rates = found["current"]["counts"], found["current"]["rates"]
    assert (counts["sent"], counts["accepted"], counts["opens"]) == (10, 10, 6)
    assert (counts["unique_opens"], counts["hard_bounces"], counts["delivered"]) == (3, 1, 3)
    assert rates["delivery"] == {
        "value": 0.75,
        "count": 3,
        "of": "sent by accounts that report deliveries",
        "of_count": 4,
        "is_known": True,
    }
    assert (rates["open"]["value"], rates["open"]["of"]) == (0.3, "sent")
    assert found["previous"]["counts"]["sent"] == 0
    assert found["previous"]["rates"]["open"]["value"] is None
    assert found["as_of"] > TIME["from"]


async def test_where_no_account_reports_deliveries_the_rate_is_unknown_and_not_0(
    api: Calling,
) -> None:
    async with connect(api.database) as conn:
        await furnish(conn)

    found = await get(api, f"{BASE}/providers")

    shown = {one["account"]: one for one in found["accounts"]}
    assert shown["mute"]["rates"]["delivery"]["value"] is None
    assert shown["mute"]["rates"]["delivery"]["is_known"] is False
    assert shown["mute"]["reports_deliveries"] is False
    assert shown["loud"]["rates"]["delivery"]["value"] == 0.75
    assert shown["loud"]["rates"]["hard_bounce"]["value"] == 0.25
    assert shown["loud"]["response_times"] == {
        "attempts": 100,
        "p50_ms": 50,
        "p95_ms": 100,
        "p99_ms": 100,
    }
    assert {one["provider"] for one in found["providers"]} == {"sendgrid", "smtp"}
    autumn = await get(api, f"{BASE}/overview", campaign="autumn")
    assert autumn["current"]["rates"]["delivery"]["is_known"] is False


async def test_a_series_has_each_span_and_groups_that_sum_to_the_whole(api: Calling) -> None:
    async with connect(api.database) as conn:
        await furnish(conn)

    found = await get(api, f"{BASE}/timeseries", metric="sent", bucket="day", compare="true")
    (series,) = found["series"]
    assert series["total"] == sum(point["value"] for point in series["points"]) == 10
    assert 22 <= len(series["points"]) <= 24
    assert len(found["previous"][0]["points"]) == len(series["points"])
    assert found["until"] >= TIME["to"]

    grouped = await get(api, f"{BASE}/timeseries", group_by="campaign", bucket="week")
    assert [(one["value"], one["total"]) for one in grouped["series"]] == [
        ("autumn", 6),
        ("spring", 4),
    ]
    accounts = await get(api, f"{BASE}/timeseries", group_by="account", bucket="month")
    assert [one["name"] for one in accounts["series"]] == ["mute", "loud"]
    hours = await get(api, f"{BASE}/timeseries", bucket="hour", timezone="Asia/Kolkata")
    assert hours["series"][0]["total"] == 10
    assert all(point["local"].endswith(":00:00") for point in hours["series"][0]["points"])


async def test_a_series_of_many_values_reads_the_highest_and_one_of_the_others(
    api: Calling,
) -> None:
    """Rows of values that have no series of their own are summed in the database."""
    async with connect(api.database) as conn:
        project = await make.project_named(conn)
        await conn.execute(
            "INSERT INTO mailqueue.stats_quarters (project_id, dimension, value, value2, is_test,"
            " started_at, sent) SELECT %s, 'tag', 'tag-' || n, '', false, %s::timestamptz, n"
            " FROM generate_series(1, 300) AS n",
            (project, NOON),
        )
        starts = [NOON - timedelta(days=1), NOON, NOON + timedelta(hours=1)]
        read = await store.read_series(
            conn, StatsScope(project), "tag", starts, metric="sent", most=20
        )

    found = await get(api, f"{BASE}/timeseries", group_by="tag", bucket="week")

    assert len(read) == 21
    series = found["series"]
    assert [one["value"] for one in series[:20]] == [f"tag-{n}" for n in range(300, 280, -1)]
    [others] = [one for one in series if one["is_other"]]
    assert (len(series), others["total"]) == (21, sum(range(281)))


async def test_a_heatmap_has_168_cells_in_the_time_zone(api: Calling) -> None:
    async with connect(api.database) as conn:
        await furnish(conn)

    found = await get(api, f"{BASE}/heatmap", metric="opens", timezone="Asia/Kolkata")

    cells = {(one["weekday"], one["hour"]): one["value"] for one in found["cells"]}
    local = NOON + timedelta(hours=5, minutes=30)
    assert len(cells) == 168
    assert cells[local.isoweekday(), local.hour] == 6
    assert sum(cells.values()) == 6


async def test_a_template_is_shown_with_its_versions_and_links(api: Calling) -> None:
    async with connect(api.database) as conn:
        project = await make.project_named(conn)
        template = await make.template(conn, project, slug="news")
        version: UUID = await make.scalar(
            conn,
            'SELECT mailqueue.add_template_version(%s, \'{"texts": [{"language": "en",'
            ' "subject": "Hello", "text_body": "Hello"}]}\')',
            template,
        )
        await make.scalar(conn, "SELECT mailqueue.publish_template(%s)", version)
        mail = await make.queued_email(conn, template="news", subject=None, text_body=None)
        await conn.execute(
            "INSERT INTO mailqueue.tracked_links (project_id, link, url) VALUES (%s, %s, %s)",
            (project, bytes(12), "https://shop.example.com/sale"),
        )
        await make.rows(
            conn,
            "SELECT mailqueue.retire_emails(ARRAY[%s::uuid], NULL, '{sent}', '{x}', NULL, NULL)",
            mail,
        )
        clicked = event(Type.CLICKED, source="tracking", email_id=mail, data={"link": "00" * 12})
        await told(conn, clicked)
        await folding.caught_up(conn)

    (listed,) = (await get(api, f"{BASE}/templates"))["data"]
    assert (listed["slug"], listed["counts"]["sent"], listed["counts"]["clicks"]) == ("news", 1, 1)
    for name in ("news", str(template)):
        found = await get(api, f"{BASE}/templates/{name}")
        assert [(one["version"], one["counts"]["sent"]) for one in found["versions"]] == [(1, 1)]
        assert found["links"] == [
            {
                "url": "https://shop.example.com/sale",
                "clicks": 1,
                "unique_clicks": 1,
                "machine_clicks": 0,
            }
        ]
    assert (await api.get(f"{BASE}/templates/none")).status_code == 404


@each_row(
    "path, query, field",
    [
        ("overview", {"from": "2026-05-02T00:00:00Z", "to": "2026-05-01T00:00:00Z"}, "from"),
        ("overview", {"timezone": "Mars/Olympus"}, "timezone"),
        ("overview", {"campaign": "a", "tag": "b"}, "tag"),
        ("timeseries", {"metric": "joy"}, "metric"),
        ("timeseries", {"bucket": "minute"}, "bucket"),
        ("timeseries", {"bucket": "year"}, "bucket"),
        ("timeseries", {"campaign": "a", "group_by": "tag"}, "group_by"),
        ("heatmap", {"from": "2001-01-01T00:00:00Z"}, "from"),
    ],
)
async def test_a_refusal_names_the_parameter(
    path: str, query: dict[str, str], field: str, api: Calling
) -> None:
    answer = await api.get(f"{BASE}/{path}?{urlencode(query)}")

    assert answer.status_code == 422, answer.text
    assert error_of(answer)["field"] == field


async def test_a_key_sees_the_counts_of_its_project_and_mode_alone(api: Calling) -> None:
    async with connect(api.database) as conn:
        await furnish(conn)
        other = await make.project(conn, "shop")
        await left(conn, project_id=other, campaign_id="theirs")
        await folding.caught_up(conn)
        theirs = await issue_key(conn, "shop", "theirs", is_test=False)
        of_tests = await issue_key(conn, "default", "of tests", is_test=True)
    for key, sent in ((theirs.key.reveal(), 1), (of_tests.key.reveal(), 0)):
        path = f"{BASE}/overview?{urlencode(TIME)}"
        found = (await api.get(path, key=key)).json()
        assert found["current"]["counts"]["sent"] == sent
        for path in ("timeseries?group_by=campaign", "timeseries?group_by=account", "providers?"):
            text = (await api.get(f"{BASE}/{path}&{urlencode(TIME)}", key=key)).text
            assert "spring" not in text
            assert "loud" not in text


async def test_administrators_see_all_projects_together_and_each(api: Calling) -> None:
    async with connect(api.database) as conn:
        await furnish(conn)
        other = await make.project(conn, "shop")
        await left(conn, project_id=other)
        await folding.caught_up(conn)
    async with administering(api.database) as admin:
        for query, sent in (({}, 11), ({"project": "shop"}, 1)):
            found = await admin("GET", f"/analytics/overview?{urlencode(TIME | query)}")
            assert found["current"]["counts"]["sent"] == sent
        series = await admin("GET", f"/analytics/timeseries?{urlencode(TIME)}&bucket=week")
        assert series["series"][0]["total"] == 11
        providers = await admin("GET", f"/analytics/providers?{urlencode(TIME)}")
        assert {one["account"] for one in providers["accounts"]} == {"loud", "mute"}
    assert (await api.get("/admin/analytics/overview")).status_code in (401, 403)
