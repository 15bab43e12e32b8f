"""The published `mailgun` library lists the tags of all domains, and describes them."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import requests
from mailgun.client import Client
from mailgun.examples import tags_examples, tags_new_examples

from mailqueue.api.compat.seen_tags import MAX_TAGS_OF_A_DAY
from mailqueue.db.pool import connect
from mailqueue.events.model import Type
from mailqueue.projects.model import Scope
from tests import make
from tests.analytics import folding
from tests.clients.keys import key_with
from tests.clients.mailgun.mails import DOMAIN
from tests.clients.serving import Served
from tests.events.sent_mail import event, left, told

PATH = "/v1/analytics/tags"


@pytest.fixture(scope="module", autouse=True)
def furnished(site: Served) -> None:
    """Write three mails, of which one was opened: two have tag `news`, one `newer`."""
    site.run(_furnished(site))


async def _furnished(site: Served) -> None:
    async with connect(site.database) as conn:
        account = await make.sender_account(conn, name="tagged")
        mails = [await left(conn, account) for _ in range(3)]
        tags = "UPDATE mailqueue.email_history SET tags = %s WHERE id = %s"
        for mail, names in zip(mails, (["news"], ["news", "newer"], ["old"]), strict=True):
            await conn.execute(tags, [names, mail])
        await told(conn, event(Type.OPENED, email_id=mails[0], account=account))
        await folding.caught_up(conn)


@pytest.fixture
def client(site: Served) -> Iterator[Client]:
    with Client(auth=("api", site.keys.live), api_url=site.url) as made:
        yield made
    site.rows("DELETE FROM mailqueue.project_rules RETURNING 1")


def asked(
    site: Served, method: str, path: str = PATH, *, key: str | None = None, **more: Any
) -> requests.Response:
    auth = ("api", key or site.keys.live)
    return requests.request(method, f"{site.url}{path}", auth=auth, timeout=60, **more)


def listed(client: Client, **body: Any) -> list[str]:
    found = client.analytics_tags.create(data=body)
    assert found.status_code == 200, found.text
    return [one["tag"] for one in found.json()["items"]]


def test_tags_are_listed_with_the_days_on_which_they_were_seen(client: Client) -> None:
    given = {"sort": "tag:asc", "skip": 0, "limit": 2}
    found = client.analytics_tags.create(data={"pagination": given}).json()
    first = found["items"][0]

    assert found["pagination"] == given | {"total": 3}
    assert [one["tag"] for one in found["items"]] == ["newer", "news"]
    assert (first["description"], first["account_name"]) == ("", "default")
    seen = datetime.fromisoformat(first["last_seen"])
    assert first["first_seen"] <= first["last_seen"]
    assert abs(datetime.now(UTC) - seen) < timedelta(days=60)
    assert "metrics" not in first


def test_tags_are_chosen_and_ordered(client: Client) -> None:
    ways = {"tag:desc": ["old", "news", "newer"], "tag:asc": ["newer", "news", "old"]}

    assert listed(client, tag="new") == ["newer", "news"]
    assert listed(client, tag="no such tag") == []
    for sort, names in ways.items():
        assert listed(client, pagination={"sort": sort}) == names
    assert sorted(listed(client, pagination={"sort": "last_seen:desc"})) == ways["tag:asc"]
    assert listed(client, pagination={"sort": "tag:asc", "skip": 2}) == ["old"]


def test_metrics_of_a_tag_are_those_of_its_mail(client: Client) -> None:
    body = {"tag": "news", "include_metrics": True, "pagination": {"sort": "tag:asc"}}
    (item,) = client.analytics_tags.create(data=body).json()["items"]

    assert item["metrics"]["opened_count"] == 1
    assert item["metrics"]["accepted_count"] == item["metrics"]["sent_count"] == 2
    assert item["metrics"]["opened_rate"] == "0.5000"


def test_a_description_is_shown_wherever_the_tag_is(site: Served, client: Client) -> None:
    made = client.analytics_tags.update(data={"tag": "news", "description": "Newsletters"})
    shown = client.tags.get(domain=DOMAIN, tag_name="news").json()["description"]
    (item,) = client.analytics_tags.create(data={"tag": "news"}).json()["items"]
    (old,) = asked(site, "GET", f"/v3/{DOMAIN}/tags?prefix=news").json()["items"]
    changed = client.tags.put(domain=DOMAIN, tag_name="news", data={"description": "Weekly"})
    again = asked(site, "GET", f"/v3/{DOMAIN}/tag?tag=news").json()["description"]
    named = asked(site, "PUT", f"/v3/{DOMAIN}/tag?tag=news", data={"description": ""})

    assert (made.status_code, made.json()) == (200, {"message": "Tag updated"})
    assert {shown, item["description"], old["description"]} == {"Newsletters"}
    assert (changed.json(), again) == ({"message": "Tag updated"}, "Weekly")
    assert named.status_code == 200
    assert client.tags.get(domain=DOMAIN, tag_name="news").json()["description"] == ""


def test_many_that_describe_a_tag_at_once_leave_one_description(
    site: Served, client: Client
) -> None:
    texts = [f"text {n}" for n in range(6)]
    with ThreadPoolExecutor(6) as pool:
        answers = list(
            pool.map(
                lambda text: asked(site, "PUT", json={"tag": "news", "description": text}), texts
            )
        )

    assert {one.status_code for one in answers} <= {200, 400}
    assert 200 in {one.status_code for one in answers}
    assert client.tags.get(domain=DOMAIN, tag_name="news").json()["description"] in texts


def test_the_limit_is_that_of_tags_with_counts_on_a_day(site: Served, client: Client) -> None:
    found = client.analytics_tags_limits.get().json()
    query = "SELECT prosrc FROM pg_proc WHERE proname = 'name_stats_values'"
    ((source,),) = site.rows(query)

    assert found["limit"] == MAX_TAGS_OF_A_DAY
    assert f"c_most CONSTANT integer := {MAX_TAGS_OF_A_DAY};" in source
    assert (found["limit_reached"], 0 <= found["count"] <= 3) == (False, True)


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"tag": 7}, "tag"),
        ({"tag": "nul\0"}, "tag"),
        ({"include_metrics": "maybe"}, "include_metrics"),
        ({"pagination": {"sort": "size:asc"}}, "pagination.sort"),
        ({"pagination": {"sort": "tag:up"}}, "pagination.sort"),
        ({"pagination": {"sort": "tag"}}, "pagination.sort"),
        ({"pagination": {"skip": -1}}, "pagination"),
        ({"pagination": {"limit": 0}}, "pagination"),
        ({"pagination": {"limit": 10**30}}, "pagination"),
        ({"pagination": []}, "pagination"),
        ({"more": 1}, "more"),
    ],
)
def test_an_invalid_field_of_a_list_is_named(site: Served, body: Any, named: str) -> None:
    answer = asked(site, "POST", json=body)

    assert answer.status_code == 400, answer.text
    assert f"'{named}' parameter: " in answer.json()["message"], answer.text


@pytest.mark.parametrize(
    ("body", "status", "named"),
    [
        ({"description": "x"}, 400, "'tag' parameter"),
        ({"tag": "", "description": "x"}, 400, "'tag' parameter"),
        ({"tag": "news"}, 400, "'description' parameter"),
        ({"tag": "news", "description": 7}, 400, "'description' parameter"),
        ({"tag": "news", "description": "x" * 1_001}, 400, "'description' parameter"),
        ({"tag": "news", "description": "nul\0"}, 400, "'description' parameter"),
        ({"tag": "none", "description": "x"}, 404, "tag not found"),
        ([], 400, ""),
    ],
)
def test_an_invalid_description_is_refused_by_name(
    site: Served, client: Client, body: Any, status: int, named: str
) -> None:
    answer = asked(site, "PUT", json=body)

    assert (answer.status_code, named in answer.json()["message"]) == (status, True), answer.text
    assert client.tags.get(domain=DOMAIN, tag_name="news").json()["description"] == ""


def test_a_project_describes_five_hundred_tags(site: Served, client: Client) -> None:
    site.rows(
        "INSERT INTO mailqueue.project_rules (project_id, kind, subject, settings, created_by)"
        " SELECT id, 'tag_description', 'tag ' || n, '{\"description\": \"x\"}', 'test'"
        " FROM mailqueue.projects, generate_series(1, 500) AS n WHERE name = 'default' RETURNING 1"
    )
    answer = asked(site, "PUT", json={"tag": "news", "description": "x"})

    assert (answer.status_code, "500" in answer.json()["message"]) == (400, True), answer.text


def test_tags_of_another_project_are_neither_shown_nor_described(
    site: Served, client: Client
) -> None:
    described = {"tag": "news", "description": "x"}
    narrow = key_with(site, Scope.ANALYTICS_READ)

    for key in (site.keys.other, site.keys.test):
        assert asked(site, "POST", key=key, json={}).json()["items"] == []
    assert asked(site, "PUT", key=site.keys.other, json=described).status_code == 404
    assert asked(site, "PUT", key=site.keys.test, json=described).status_code == 403
    assert asked(site, "PUT", key=narrow, json=described).status_code == 403
    assert asked(site, "POST", key=narrow, json={}).status_code == 200


def test_published_examples_run_unmodified(
    site: Served, client: Client, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    from mailgun.config import Config

    monkeypatch.setattr(Config, "DEFAULT_API_URL", site.url)
    tags_new_examples.post_analytics_tags_sync(site.keys.live)
    tags_new_examples.update_analytics_tags_sync(site.keys.live, "news", "Weekly")
    tags_new_examples.get_account_analytics_tag_limit_information_sync(site.keys.live)
    tags_examples.put_single_tag_sync(site.keys.live, DOMAIN, "old")
    said = capsys.readouterr().out

    assert said.count("'message': 'Tag updated'") == 2
    assert "'limit_reached': False" in said
    assert "'sort': 'lastseen:desc'" in said
