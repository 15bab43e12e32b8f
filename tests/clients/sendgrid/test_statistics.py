"""The published `sendgrid` library reads counts and categories, which are exact and in UTC."""

import json
from datetime import UTC, timedelta
from typing import Any

import pytest
from python_http_client.exceptions import BadRequestsError, ForbiddenError
from sendgrid import SendGridAPIClient

from mailqueue.db.pool import connect
from mailqueue.events.model import Type
from mailqueue.projects.model import Scope
from tests import make
from tests.analytics import folding
from tests.clients.serving import Served
from tests.events.sent_mail import NOON, event, left, told

TODAY = NOON.astimezone(UTC).date()
NONE = dict.fromkeys(
    (
        *("processed", "requests", "delivered", "bounces", "blocks", "spam_reports"),
        *("unsubscribes", "opens", "unique_opens", "clicks", "unique_clicks", "deferred"),
        *("invalid_emails", "bounce_drops", "spam_report_drops", "unsubscribe_drops"),
    ),
    0,
)


@pytest.fixture(scope="module", autouse=True)
def furnished(site: Served) -> None:
    """Write four mails: two opened, one of them clicked, one bounced and one complained about."""
    site.run(_furnished(site))


async def _furnished(site: Served) -> None:
    async with connect(site.database) as conn:
        account = await make.sender_account(conn, name="counted")
        mails = [await left(conn, account) for _ in range(4)]
        await left(conn, account, project_id=await make.project_named(conn, "other"))
        tags = "UPDATE mailqueue.email_history SET tags = %s WHERE id = %s"
        for mail, names in zip(mails, (["a"], ["a", "b"], ["c"], ["ab"]), strict=True):
            await conn.execute(tags, [names, mail])
        shared: dict[str, Any] = {"account": account}
        await told(
            conn,
            event(Type.DELIVERED, email_id=mails[0], **shared),
            event(Type.OPENED, email_id=mails[0], **shared),
            event(Type.OPENED, email_id=mails[0], **shared),
            event(Type.OPENED, email_id=mails[1], **shared),
            event(Type.CLICKED, email_id=mails[1], data={"url": "https://a.example"}, **shared),
            event(Type.HARD_BOUNCE, email_id=mails[2], **shared),
            event(Type.COMPLAINT, email_id=mails[3], **shared),
        )
        await folding.caught_up(conn)


@pytest.fixture
def client(site: Served) -> Any:
    return SendGridAPIClient(site.keys.live, host=site.url).client


def read(response: Any) -> Any:
    return json.loads(response.body)


def since(days: int = 0) -> str:
    return (TODAY - timedelta(days=days)).isoformat()


def test_each_day_has_its_counts(client: Any) -> None:
    query = {"start_date": since(2), "end_date": since(), "aggregated_by": "day"}
    found = read(client.stats.get(query_params=query))
    last = found[-1]["stats"][0]["metrics"]

    assert [one["date"] for one in found] == [since(2), since(1), since()]
    assert found[0]["stats"] == [{"metrics": NONE}]
    assert set(last) == set(NONE)
    counted = {name: count for name, count in last.items() if count and name not in _ACCEPTED}
    assert counted == {
        "delivered": 1,
        "bounces": 1,
        "spam_reports": 1,
        "opens": 3,
        "unique_opens": 2,
        "clicks": 1,
        "unique_clicks": 1,
    }


_ACCEPTED = ("requests", "processed")


def test_weeks_and_months_sum_up_their_days(client: Any) -> None:
    for unit in ("week", "month"):
        query = {"start_date": since(), "end_date": since(), "aggregated_by": unit}
        (found,) = read(client.stats.get(query_params=query))
        assert found["stats"][0]["metrics"]["opens"] == 3
        assert found["date"] <= since()


def test_a_part_of_the_days_is_chosen(client: Any) -> None:
    query = {"start_date": since(9), "end_date": since(), "limit": 2, "offset": 3}
    found = read(client.stats.get(query_params=query))

    assert [one["date"] for one in found] == [since(6), since(5)]


def test_categories_have_their_own_counts(client: Any) -> None:
    query = {"start_date": since(), "end_date": since(), "categories": ["a", "b", "no"]}
    (found,) = read(client.categories.stats.get(query_params=query))
    opens = {one["name"]: one["metrics"]["opens"] for one in found["stats"]}

    assert opens == {"a": 3, "b": 1, "no": 0}
    assert {one["type"] for one in found["stats"]} == {"category"}


def test_categories_are_summed_and_sorted(client: Any) -> None:
    query = {"start_date": since(1), "end_date": since(), "sort_by_metric": "opens", "limit": 2}
    found = read(client.categories.stats.sums.get(query_params=query))
    rising = read(
        client.categories.stats.sums.get(query_params={**query, "sort_by_direction": "asc"})
    )

    assert [(one["name"], one["metrics"]["opens"]) for one in found["stats"]] == [
        ("a", 3),
        ("b", 1),
    ]
    assert [one["metrics"]["opens"] for one in rising["stats"]] == [0, 0]
    assert found["date"] == since(1)


def test_categories_are_listed_by_name(client: Any) -> None:
    assert read(client.categories.get()) == [{"category": name} for name in ("a", "ab", "b", "c")]
    chosen = client.categories.get(query_params={"category": "a", "limit": 1, "offset": 1})
    assert read(chosen) == [{"category": "ab"}]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({}, "start_date"),
        ({"start_date": "yesterday"}, "start_date"),
        ({"start_date": "2026-02-30"}, "start_date"),
        ({"start_date": "0001-01-01"}, "start_date"),
        ({"start_date": "2026-03-02", "end_date": "2026-03-01"}, "start_date"),
        ({"start_date": "2026-03-02", "end_date": "9999-12-31"}, "end_date"),
        ({"start_date": "2026-03-02", "aggregated_by": "year"}, "aggregated_by"),
        ({"start_date": "2026-03-02", "limit": 0}, "limit"),
        ({"start_date": "2026-03-02", "offset": 10**30}, "offset"),
        ({"start_date": "2026-03-02", "by": "day"}, "by"),
    ],
)
def test_an_invalid_time_is_named(client: Any, query: Any, field: str) -> None:
    with pytest.raises(BadRequestsError) as caught:
        client.stats.get(query_params=query)
    assert caught.value.to_dict["errors"][0]["field"] == field


@pytest.mark.parametrize("categories", [[], ["x"] * 11, ["x" * 501]])
def test_one_to_ten_categories_are_counted(client: Any, categories: list[str]) -> None:
    with pytest.raises(BadRequestsError) as caught:
        client.categories.stats.get(query_params={"start_date": since(), "categories": categories})
    assert caught.value.to_dict["errors"][0]["field"].startswith("categories")


def test_an_unknown_metric_is_named(client: Any) -> None:
    query = {"start_date": since(), "sort_by_metric": "luck"}
    with pytest.raises(BadRequestsError) as caught:
        client.categories.stats.sums.get(query_params=query)
    assert caught.value.to_dict["errors"][0]["field"] == "sort_by_metric"


def test_counts_are_of_the_keys_project_and_mode(site: Served) -> None:
    query = {"start_date": since(), "end_date": since()}
    for key in (site.keys.test, site.keys.other):
        other = SendGridAPIClient(key, host=site.url).client
        (found,) = read(other.stats.get(query_params=query))
        assert found["stats"][0]["metrics"]["opens"] == 0
        assert read(other.categories.get()) == []


def test_counts_need_their_scope(site: Served) -> None:
    narrow = SendGridAPIClient(site.key_with(Scope.EMAIL_SEND), host=site.url).client
    for call in (narrow.stats, narrow.categories, narrow.categories.stats):
        with pytest.raises(ForbiddenError):
            call.get(query_params={"start_date": since()})
