"""The published `mailgun` library reads the log of a message and of a recipient."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
import requests
from mailgun.client import Client

from mailqueue.projects.model import Scope
from tests.clients.mailgun.mails import DOMAIN
from tests.clients.mailgun.test_events import WORDS, happened
from tests.clients.serving import Served

TO = "logged@example.org"
PATH = "/v1/analytics/logs"
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def client(site: Served) -> Iterator[Client]:
    with Client(auth=("api", site.keys.live), api_url=site.url) as made:
        yield made


@pytest.fixture(scope="module")
def message(site: Served, client: Client) -> str:
    """Return the Message-ID of a mail to which each event happened once, a minute apart."""
    return happened(site, client, TO)


def condition(name: str, value: str) -> dict[str, Any]:
    return {"attribute": name, "comparator": "=", "values": [{"label": value, "value": value}]}


def log_of(*conditions: dict[str, Any], sort: str = "timestamp:asc", **body: Any) -> dict[str, Any]:
    soon = format_datetime(datetime.now(UTC) + timedelta(hours=1))
    paged = {"sort": sort} | body.pop("pagination", {})
    return {"end": soon, "filter": {"AND": list(conditions)}, "pagination": paged, **body}


def asked(site: Served, body: Any, *, key: str | None = None) -> requests.Response:
    auth = ("api", key or site.keys.live)
    return requests.post(f"{site.url}{PATH}", json=body, auth=auth, timeout=60)


def words(found: requests.Response) -> list[str]:
    assert found.status_code == 200, found.text
    return [one["event"] for one in found.json()["items"]]


def test_the_log_of_a_message_has_its_events(client: Client, message: str) -> None:
    body = log_of(condition("message-id", message), condition("domain", DOMAIN))
    found = client.analytics_logs.create(data=json.dumps(body), headers=JSON)
    first = found.json()["items"][0]

    assert words(found) == WORDS
    assert (first["recipient"], first["domain"]["name"]) == (TO, DOMAIN)
    assert f"<{first['message']['headers']['message-id']}>" == message
    assert json.loads(first["user-variables"]) == {"order": "81"}
    assert datetime.fromisoformat(first["@timestamp"]).tzinfo is not None
    assert "timestamp" not in first
    assert first["account"]["id"]


def test_the_log_of_a_recipient_is_chosen_by_event_and_time(
    site: Served, client: Client, message: str
) -> None:
    assert message
    recipient = condition("recipient", TO)
    opened = asked(site, log_of(recipient, events=["opened", "clicked"]))
    newest = asked(site, log_of(recipient, sort="timestamp:desc"))
    before = format_datetime(datetime.now(UTC) - timedelta(days=2))
    early = asked(site, {**log_of(recipient, duration="1d"), "end": before})

    assert words(opened) == ["opened", "clicked"]
    assert words(newest) == WORDS[::-1]
    assert words(early) == []


def test_the_log_is_read_page_by_page_both_ways(site: Served, message: str) -> None:
    chosen = condition("message_id", message)
    seen: list[str] = []
    token = None
    for _ in range(4):
        paged = {"limit": 2} if token is None else {"limit": 2, "token": token}
        page = asked(site, log_of(chosen, pagination=paged))
        seen += words(page)
        token = page.json()["pagination"]["next"]
    back = {"limit": 2, "token": page.json()["pagination"]["previous"]}
    last = {"limit": 2, "token": page.json()["pagination"]["last"]}

    assert seen == WORDS
    assert words(asked(site, log_of(chosen, pagination=back))) == []
    assert words(asked(site, log_of(chosen, pagination=last))) == WORDS[-2:]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (log_of(), "filter"),
        (log_of(condition("domain", DOMAIN)), "filter"),
        (log_of(condition("country", "NO")), "filter"),
        (log_of(condition("recipient", TO), condition("recipient", TO)), "filter"),
        (log_of(condition("recipient", "no address")), "filter"),
        (log_of(condition("recipient", "nul\0")), "filter"),
        (log_of(condition("recipient", TO), events=["vanished"]), "events"),
        (log_of(condition("recipient", TO), events="opened"), "events"),
        (log_of(condition("recipient", TO), start="yesterday"), "start"),
        (log_of(condition("recipient", TO), duration="soon"), "duration"),
        (log_of(condition("recipient", TO), sort="size:asc"), "pagination"),
        (log_of(condition("recipient", TO), pagination={"limit": 0}), "pagination"),
        (log_of(condition("recipient", TO), pagination={"token": "x"}), "pagination.token"),
        (log_of(condition("recipient", TO), more=1), "more"),
    ],
)
def test_an_invalid_field_is_named(site: Served, body: Any, named: str) -> None:
    answer = asked(site, body)

    assert answer.status_code == 400, answer.text
    assert f"'{named}' parameter" in answer.json()["message"], answer.text


def test_the_log_of_another_project_is_empty(site: Served, message: str) -> None:
    chosen = log_of(condition("message-id", message))
    elsewhere = log_of(condition("message-id", message), condition("domain", "no domain"))

    assert words(asked(site, chosen, key=site.keys.other)) == []
    assert words(asked(site, chosen, key=site.keys.test)) == []
    assert asked(site, elsewhere).status_code == 404
    assert asked(site, chosen, key=site.key_with(Scope.TEMPLATE_READ)).status_code == 403
