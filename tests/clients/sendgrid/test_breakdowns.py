"""The published `sendgrid` library reads counts by country, device, program and mailbox."""

import json
import threading
from datetime import UTC, timedelta
from typing import Any

import pytest
from python_http_client.exceptions import BadRequestsError, ForbiddenError
from sendgrid import SendGridAPIClient

from mailqueue.api.compat.sendgrid import breakdowns
from mailqueue.api.compat.sendgrid.statistics import answer_by_day
from mailqueue.db.pool import connect
from mailqueue.events.model import Type
from mailqueue.projects.model import Scope
from tests import make
from tests.analytics import folding
from tests.clients.keys import key_with
from tests.clients.serving import Served
from tests.events.sent_mail import NOON, event, left, told

TODAY = NOON.astimezone(UTC).date()
DAYS = {
    "start_date": (TODAY - timedelta(days=1)).isoformat(),
    "end_date": TODAY.isoformat(),
    "aggregated_by": "day",
}
PHONE = {"country": "DE", "client": "Outlook", "device": "phone", "system": "iOS"}
DESK = {"country": "US", "client": "Firefox", "device": "desktop", "system": "Linux"}
KINDS = ("geo", "devices", "clients", "browsers", "mailbox_providers")


@pytest.fixture(scope="module", autouse=True)
def furnished(site: Served) -> None:
    """Write two mails: both opened, one of them twice and clicked."""
    site.run(_furnished(site))


async def _furnished(site: Served) -> None:
    async with connect(site.database) as conn:
        account = await make.sender_account(conn, name="counted")
        first, second = [await left(conn, account) for _ in range(2)]
        other = await left(
            conn,
            account,
            project_id=await make.project_named(conn, "other"),
            recipient_email="a@b.example",
        )
        shared: dict[str, Any] = {"account": account, "source": "tracking"}
        link = {"link": "aa" * 12}
        await told(
            conn,
            event(Type.OPENED, email_id=first, data=PHONE, **shared),
            event(Type.OPENED, email_id=first, data=PHONE, **shared),
            event(Type.OPENED, email_id=second, data=DESK, **shared),
            event(Type.CLICKED, email_id=second, data={**link, **DESK}, **shared),
            event(Type.OPENED, email_id=other, data={**DESK, "country": "FR"}, **shared),
        )
        await folding.caught_up(conn)


@pytest.fixture
def client(site: Served) -> Any:
    return SendGridAPIClient(site.keys.live, host=site.url).client


def read(client: Any, kind: str, **query: Any) -> Any:
    return json.loads(client._(kind).stats.get(query_params={**DAYS, **query}).body)


def of_last_day(client: Any, kind: str, **query: Any) -> dict[str, dict[str, int]]:
    """Return the counts of the last day by name; there are none on the day before."""
    before, last = read(client, kind, **query)
    assert before["stats"] == [] or query
    return {one["name"]: one["metrics"] for one in last["stats"]}


def test_opens_and_clicks_are_counted_by_country_of_the_project_alone(client: Any) -> None:
    found = of_last_day(client, "geo")

    assert found == {
        "DE": {"opens": 2, "unique_opens": 1, "clicks": 0, "unique_clicks": 0},
        "US": {"opens": 1, "unique_opens": 1, "clicks": 1, "unique_clicks": 1},
    }
    assert of_last_day(client, "geo", country="us") == {"US": found["US"]}


def test_opens_are_counted_by_device_and_by_program(client: Any) -> None:
    twice, once = {"opens": 2, "unique_opens": 1}, {"opens": 1, "unique_opens": 1}

    assert of_last_day(client, "devices") == {"desktop": once, "phone": twice}
    assert of_last_day(client, "clients") == {"Firefox": once, "Outlook": twice}


def test_clicks_are_counted_by_browser(client: Any) -> None:
    clicked = {"Firefox": {"clicks": 1, "unique_clicks": 1}}
    chosen = of_last_day(client, "browsers", browsers=["Firefox", "Edge"])

    assert of_last_day(client, "browsers") == clicked
    assert chosen == clicked | {"Edge": {"clicks": 0, "unique_clicks": 0}}


def test_mail_is_counted_by_domain_of_the_recipient(client: Any) -> None:
    found = of_last_day(client, "mailbox_providers")
    (name,) = found

    assert "." in name
    assert (found[name]["opens"], found[name]["clicks"]) == (3, 1)
    assert "b.example" not in found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("query", "why"),
    [
        ({"start_date": "yesterday"}, "start_date"),
        ({"start_date": "2020-01-01"}, "100 days"),
        ({"aggregated_by": "year"}, "aggregated_by"),
        ({"limit": "0"}, "limit"),
        ({"offset": "99999999999999999999"}, "offset"),
        ({"unknown": "1"}, "unknown"),
    ],
)
def test_a_bad_parameter_is_named(client: Any, kind: str, query: dict[str, str], why: str) -> None:
    with pytest.raises(BadRequestsError) as caught:
        read(client, kind, **query)

    assert why in caught.value.body.decode()


def test_another_word_than_a_country_is_refused(client: Any) -> None:
    with pytest.raises(BadRequestsError, match="400"):
        read(client, "geo", country="DE' OR 1=1")


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_that_may_not_read_counts_is_refused(site: Served, kind: str) -> None:
    sends = key_with(site, Scope.EMAIL_SEND)
    with pytest.raises(ForbiddenError):
        read(SendGridAPIClient(sends, host=site.url).client, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_test_key_sees_no_counts_of_live_mail(site: Served, kind: str) -> None:
    client = SendGridAPIClient(site.keys.test, host=site.url).client

    assert [one["stats"] for one in read(client, kind)] == [[], []]


def test_many_counts_are_summed_in_a_thread_while_other_requests_go_on(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: list[str] = []

    def noted(*given: Any) -> Any:
        names.append(threading.current_thread().name)
        return answer_by_day(*given)

    monkeypatch.setattr(breakdowns, "answer_by_day", noted)
    for most in (0, 1_000_000):
        monkeypatch.setattr(breakdowns, "MANY_ROWS", most, raising=False)
        assert len(read(client, "mailbox_providers")) == 2

    assert (names[0] != "served", names[1]) == (True, "served")
