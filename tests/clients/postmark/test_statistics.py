"""The published library postmarker reads statistics, which are exact and by day of Eastern Time."""

from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import requests
from postmarker.core import PostmarkClient
from postmarker.exceptions import ClientError

from mailqueue.db.pool import connect
from mailqueue.events.model import Type
from mailqueue.projects.model import Scope
from tests import make
from tests.analytics import folding
from tests.clients.keys import key_with
from tests.clients.serving import Served
from tests.events.sent_mail import NOON, event, left, told

EASTERN = ZoneInfo("America/New_York")
TODAY = NOON.astimezone(EASTERN).date()
PHONE = {"client": "Apple Mail", "system": "iOS", "device": "phone"}
DESK = {"client": "Firefox", "system": "Linux", "device": "desktop"}


@pytest.fixture(scope="module", autouse=True)
def furnished(site: Served) -> None:
    """Write four mails: two opened, one of them clicked, one bounced and one complained about."""
    site.run(_furnished(site))


async def _furnished(site: Served) -> None:
    async with connect(site.database) as conn:
        account = await make.sender_account(conn, name="counted")
        mails = [await left(conn, account) for _ in range(4)]
        await left(conn, account, project_id=await make.project_named(conn, "other"))
        shared: dict[str, Any] = {"account": account}
        await told(
            conn,
            event(Type.OPENED, email_id=mails[0], data=PHONE, **shared),
            event(Type.OPENED, email_id=mails[0], data=PHONE, **shared),
            event(Type.OPENED, email_id=mails[1], **shared),
            event(
                Type.CLICKED, email_id=mails[1], data={**DESK, "url": "https://a.example"}, **shared
            ),
            event(Type.HARD_BOUNCE, email_id=mails[2], **shared),
            event(Type.COMPLAINT, email_id=mails[3], **shared),
        )
        await folding.caught_up(conn)


def day_of(answer: Any, day: Any = TODAY) -> dict[str, Any]:
    (found,) = [one for one in answer["Days"] if one["Date"] == day.isoformat()]
    return {name: count for name, count in found.items() if name != "Date"}


def test_the_overview_has_counts_and_rates_in_percent(postmark: PostmarkClient) -> None:
    found = postmark.stats.overview()

    assert (found["Sent"], found["Bounced"], found["SpamComplaints"]) == (4, 1, 1)
    assert (found["BounceRate"], found["SpamComplaintsRate"]) == (25.0, 25.0)
    assert (found["Opens"], found["UniqueOpens"]) == (3, 2)
    assert (found["TotalClicks"], found["UniqueLinksClicked"]) == (1, 1)


def test_each_count_is_shown_by_day(postmark: PostmarkClient) -> None:
    assert postmark.stats.sends()["Sent"] == 4
    bounces = postmark.stats.bounces()
    assert (bounces["HardBounce"], bounces["SoftBounce"]) == (1, 0)
    assert day_of(bounces) == {"HardBounce": 1, "SoftBounce": 0}
    assert day_of(postmark.stats.spam()) == {"SpamComplaint": 1}
    opens = postmark.stats.opens()
    assert (opens["Opens"], opens["Unique"], len(opens["Days"])) == (3, 2, 1)
    assert day_of(opens) == {"Opens": 3, "Unique": 2}
    assert day_of(postmark.stats.clicks()) == {"Clicks": 1, "Unique": 1}


def test_opens_and_clicks_are_shown_by_client_platform_and_place(postmark: PostmarkClient) -> None:
    platforms = postmark.stats.opens_platforms()
    assert platforms["Mobile"] == 2
    assert day_of(platforms) == {"Desktop": 0, "Mobile": 2, "Unknown": 1, "WebMail": 0}
    assert day_of(postmark.stats.emailclients()) == {"Apple Mail": 2, "Unknown": 1}
    assert day_of(postmark.stats.browserfamilies()) == {"Firefox": 1}
    assert postmark.stats.clicks_platforms()["Desktop"] == 1
    assert day_of(postmark.stats.location()) == {"HTML": 1, "Text": 0}


def test_days_are_those_between_both_given_ones(postmark: PostmarkClient) -> None:
    before = (TODAY - timedelta(days=1)).isoformat()
    on_day = postmark.stats.opens(fromdate=TODAY.isoformat(), todate=TODAY.isoformat())
    earlier = postmark.stats.opens(fromdate="2020-01-01", todate=before)
    later = postmark.stats.opens(fromdate=(TODAY + timedelta(days=1)).isoformat())

    assert on_day["Opens"] == 3
    assert earlier == {"Days": [], "Opens": 0, "Unique": 0}
    assert later == earlier


def test_a_tag_and_a_stream_have_their_own_counts(site: Served, postmark: PostmarkClient) -> None:
    assert postmark.stats.opens(tag="gone")["Opens"] == 0
    assert asked(site, "/stats/outbound/opens?messagestream=outbound").json()["Opens"] == 3
    assert asked(site, "/stats/outbound?messagestream=broadcast").json()["Sent"] == 0


def asked(site: Served, path: str, *, key: str | None = None) -> requests.Response:
    headers = {"X-Postmark-Server-Token": key or site.keys.live}
    return requests.get(f"{site.url}{path}", headers=headers, timeout=60)


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("fromdate=soon", "'fromdate'"),
        ("fromdate=2020-01-02&todate=2020-01-01", "'fromdate'"),
        ("fromdate=0001-01-01", "'fromdate'"),
        ("todate=9999-12-31", "'"),
        ("todate=9999-12-31T23:59:59.999999Z", "'"),
        ("tag=a&messagestream=outbound", "'messagestream'"),
        ("messagestream=No%20Such", "MessageStream"),
        ("tag=a&tag=b", "'tag'"),
        ("tag=%00", "'tag'"),
        ("count=1", "'count'"),
    ],
)
def test_what_is_invalid_is_refused_by_name(site: Served, query: str, named: str) -> None:
    for path in ("/stats/outbound", "/stats/outbound/opens"):
        answer = asked(site, f"{path}?{query}")
        assert (answer.status_code, named in answer.json()["Message"]) == (422, True), answer.text


def test_counts_by_client_have_no_tag(site: Served) -> None:
    answer = asked(site, "/stats/outbound/opens/emailclients?tag=a")

    assert (answer.status_code, "'tag'" in answer.json()["Message"]) == (422, True)


def test_counts_are_of_the_project_and_mode_of_the_token(site: Served) -> None:
    assert asked(site, "/stats/outbound", key=site.keys.other).json()["Sent"] == 1
    assert asked(site, "/stats/outbound", key=site.keys.test).json()["Sent"] == 0
    assert asked(site, "/stats/outbound/opens", key=site.keys.other).json()["Days"] == []


def test_a_token_without_the_permission_is_refused(site: Served) -> None:
    answer = asked(site, "/stats/outbound", key=key_with(site, Scope.EMAIL_READ))
    assert (answer.status_code, answer.json()["ErrorCode"]) == (422, 405)
    assert asked(site, "/stats/outbound", key=key_with(site, Scope.ANALYTICS_READ)).ok


def test_what_is_not_counted_is_named(postmark: PostmarkClient) -> None:
    with pytest.raises((ClientError, requests.HTTPError), match="404"):
        postmark.stats.readtimes()
