"""The published `mailgun` library reads counts and tags, which are exact and in UTC."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from typing import Any

import pytest
import requests
from mailgun.client import Client

from mailqueue.db.pool import connect
from mailqueue.events.model import Type
from mailqueue.projects.model import Scope
from tests import make
from tests.analytics import folding
from tests.clients.keys import key_with
from tests.clients.mailgun.mails import DOMAIN
from tests.clients.serving import Served
from tests.events.sent_mail import NOON, event, left, told

TOTAL = f"/v3/{DOMAIN}/stats/total"


@pytest.fixture(scope="module", autouse=True)
def furnished(site: Served) -> None:
    """Write four mails: two opened, one of them clicked, one bounced and one complained about."""
    site.run(_furnished(site))


async def _furnished(site: Served) -> None:
    async with connect(site.database) as conn:
        account = await make.sender_account(conn, name="counted")
        mails = [await left(conn, account) for _ in range(4)]
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
def client(site: Served) -> Iterator[Client]:
    with Client(auth=("api", site.keys.live), api_url=site.url) as made:
        yield made


def asked(site: Served, path: str, *, key: str | None = None, **query: Any) -> requests.Response:
    auth = ("api", key or site.keys.live)
    return requests.get(f"{site.url}{path}", params=query, auth=auth, timeout=60)


def sum_of(answer: Any, event: str, *names: str) -> int:
    total = 0
    for item in answer.json()["stats"]:
        found = item[event]
        for name in names:
            found = found[name]
        total += found
    return total


def test_counts_of_the_last_seven_days_are_shown_by_day(client: Client) -> None:
    with pytest.warns(DeprecationWarning, match="v3 Stats API"):
        found = client.stats_total.get(domain=DOMAIN)

    assert found.status_code == 200, found.text
    assert found.json()["resolution"] == "day"
    assert len(found.json()["stats"]) == 8
    assert (sum_of(found, "opened", "total"), sum_of(found, "opened", "unique")) == (3, 2)
    assert (sum_of(found, "clicked", "total"), sum_of(found, "clicked", "unique")) == (1, 1)
    assert sum_of(found, "delivered", "total") == 1
    assert sum_of(found, "complained", "total") == 1
    assert sum_of(found, "failed", "permanent", "bounce") == 1
    day = NOON.astimezone(UTC).strftime("%a, %d %b %Y 00:00:00 UTC")
    (own,) = [one for one in found.json()["stats"] if one["time"] == day]
    assert own["opened"] == {"total": 3, "unique": 2}


def test_events_and_times_are_chosen(site: Served, client: Client) -> None:
    filters = {"event": ["opened", "clicked"], "duration": "2m", "resolution": "month"}
    with pytest.warns(DeprecationWarning, match="v3 Stats API"):
        found = client.stats_total.get(domain=DOMAIN, filters=filters)
    end = datetime.now(UTC) - timedelta(days=2)
    earlier = asked(site, TOTAL, start=0 + 1_600_000_000, end=format_datetime(end), event="opened")
    hours = asked(site, TOTAL, duration="3h", resolution="hour", event="opened")

    assert {*found.json()["stats"][0]} == {"time", "opened", "clicked"}
    assert 3 <= len(found.json()["stats"]) <= 4
    assert sum_of(found, "opened", "total") == 3
    assert sum_of(earlier, "opened", "total") == 0
    assert parsedate_to_datetime(earlier.json()["start"]).year == 2020
    assert sum_of(hours, "opened", "total") == 3


def test_a_tag_has_its_own_counts(site: Served, client: Client) -> None:
    found = client.tags_stats.get(domain=DOMAIN, tag_name="a", filters={"event": "opened"})
    named = asked(site, f"/v3/{DOMAIN}/tag/stats", tag="b", event="opened")

    assert (found.json()["tag"], sum_of(found, "opened", "total")) == ("a", 3)
    assert sum_of(named, "opened", "total") == 1
    assert asked(site, f"/v3/{DOMAIN}/tag/stats").status_code == 400


def test_tags_are_listed_by_name_on_pages(site: Served, client: Client) -> None:
    def names(answer: Any) -> list[str]:
        return [one["tag"] for one in answer.json()["items"]]

    first = client.tags.get(domain=DOMAIN, filters={"limit": 3})
    second = requests.get(first.json()["paging"]["next"], auth=("api", site.keys.live), timeout=60)
    past = requests.get(second.json()["paging"]["next"], auth=("api", site.keys.live), timeout=60)

    assert [names(first), names(second), names(past)] == [["a", "ab", "b"], ["c"], []]
    assert names(client.tags.get(domain=DOMAIN, filters={"prefix": "a"})) == ["a", "ab"]
    shown = client.tags.get(domain=DOMAIN, tag_name="b").json()
    assert (shown["tag"], shown["first-seen"] <= shown["last-seen"]) == ("b", True)
    assert asked(site, f"/v3/{DOMAIN}/tag", tag="b").json() == shown
    missing = client.tags.get(domain=DOMAIN, tag_name="gone")
    assert (missing.status_code, missing.json()) == (404, {"message": "tag not found"})


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ({"event": "stored"}, "'event'"),
        ({"resolution": "week"}, "'resolution'"),
        ({"start": "soon"}, "'start'"),
        ({"start": "99999999999"}, "'start'"),
        ({"end": "9" * 40}, "'end'"),
        ({"end": "1000"}, "'start'"),
        ({"duration": "1y"}, "'duration'"),
        ({"duration": "99999m"}, "'duration'"),
        ({"duration": "3000d", "resolution": "hour"}, "'resolution'"),
        ({"other": "x"}, "'other'"),
        ({"start": ["1", "2"]}, "'start'"),
        ({"event": "a\0"}, "'event'"),
    ],
)
def test_what_is_invalid_is_refused_by_name(site: Served, query: Any, named: str) -> None:
    answer = asked(site, TOTAL, **query)

    assert (answer.status_code, named in answer.json()["message"]) == (400, True), answer.text


def test_tags_of_a_query_are_checked(site: Served) -> None:
    path = f"/v3/{DOMAIN}/tags"
    for query in ({"limit": 0}, {"page": "next", "tag": "gone"}, {"x": 1}, {"tag": "\0"}):
        assert asked(site, path, **query).status_code == 400, query


def test_counts_are_of_the_project_and_mode_of_the_key(site: Served) -> None:
    for key in (site.keys.other, site.keys.test):
        assert sum_of(asked(site, TOTAL, key=key), "opened", "total") == 0
        assert asked(site, f"/v3/{DOMAIN}/tags", key=key).json()["items"] == []
        assert asked(site, f"/v3/{DOMAIN}/tags/a", key=key).status_code == 404


def test_a_key_without_the_permission_is_refused(site: Served) -> None:
    key = key_with(site, Scope.EMAIL_READ)
    for path in (TOTAL, f"/v3/{DOMAIN}/tags", f"/v3/{DOMAIN}/tags/a/stats"):
        assert asked(site, path, key=key).status_code == 403
    assert asked(site, TOTAL, key=key_with(site, Scope.ANALYTICS_READ)).ok


def metrics(client: Client, **body: Any) -> Any:
    data = {"metrics": ["opened_count", "clicked_rate"], **body}
    headers = {"Content-Type": "application/json"}
    return client.analytics_metrics.create(data=json.dumps(data), headers=headers)


def test_metrics_are_shown_by_time_with_their_sum(client: Client) -> None:
    predicate = {"attribute": "domain", "comparator": "=", "values": [{"value": DOMAIN}]}
    answer = metrics(
        client,
        dimensions=["time"],
        duration="3d",
        metrics=["accepted_count", "opened_count", "unique_opened_count", "opened_rate"],
        filter={"AND": [predicate]},
        include_subaccounts=True,
        include_aggregates=True,
    )
    assert answer.status_code == 200, answer.text
    found = answer.json()

    assert len(found["items"]) == found["pagination"]["total"] == 4
    assert found["aggregates"]["metrics"] == {
        "accepted_count": 0,
        "opened_count": 3,
        "unique_opened_count": 2,
        "opened_rate": "0.7500",
    }
    opened = {
        one["dimensions"][0]["value"]: one["metrics"]["opened_count"] for one in found["items"]
    }
    assert opened.pop(NOON.astimezone(UTC).strftime("%a, %d %b %Y 00:00:00 +0000")) == 3
    assert set(opened.values()) == {0}


def test_metrics_are_shown_by_a_dimension_or_of_one_value(client: Client) -> None:
    by_tag = metrics(client, dimensions=["tag"]).json()["items"]
    predicate = {"attribute": "tag", "comparator": "=", "values": [{"label": "b", "value": "b"}]}
    of_tag = metrics(client, filter={"AND": [predicate]}).json()["items"]
    both = metrics(client, dimensions=["time", "tag"], pagination={"sort": "time:desc", "limit": 2})

    assert {one["dimensions"][0]["value"]: one["metrics"]["opened_count"] for one in by_tag} == {
        "a": 3,
        "ab": 0,
        "b": 1,
        "c": 0,
    }
    assert [one["metrics"]["opened_count"] for one in of_tag] == [1]
    assert len(both.json()["items"]) == 2
    assert [one["dimension"] for one in both.json()["items"][0]["dimensions"]] == ["time", "tag"]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"metrics": []}, "'metrics'"),
        ({"metrics": ["webhook_count"]}, "'metrics'"),
        ({"metrics": "opened_count"}, "'metrics'"),
        ({"dimensions": ["ip"]}, "'dimensions'"),
        ({"dimensions": ["tag", "device"]}, "'dimensions'"),
        ({"resolution": "week"}, "'resolution'"),
        ({"duration": "3000d", "resolution": "hour"}, "'resolution'"),
        ({"duration": "401d", "dimensions": ["time", "tag"]}, "'resolution'"),
        ({"start": 7}, "'start'"),
        ({"start": "nul\0"}, "'start'"),
        ({"duration": None, "end": "then"}, "'end'"),
        ({"pagination": {"limit": 10**30}}, "'pagination"),
        ({"pagination": {"sort": "opened_count:asc"}}, "'pagination.sort'"),
        ({"filter": {"OR": []}}, "'filter"),
        ({"other": 1}, "'other'"),
    ],
)
def test_metrics_that_are_invalid_are_refused_by_name(
    client: Client, body: Any, named: str
) -> None:
    answer = metrics(client, **body)

    assert (answer.status_code, named in answer.json()["message"]) == (400, True), answer.text


def test_metrics_are_of_the_project_of_the_key(site: Served) -> None:
    for key, status in ((site.keys.other, 200), (key_with(site, Scope.EMAIL_READ), 403)):
        with Client(auth=("api", key), api_url=site.url) as own:
            answer = metrics(own)
            assert answer.status_code == status
            if status == 200:
                assert answer.json()["items"][0]["metrics"]["opened_count"] == 0
