"""The published Python library of Resend counts mail, in all and by span of time."""

from datetime import timedelta
from typing import Any

import pytest
import resend
from resend.exceptions import ResendError

from mailqueue.db.pool import connect
from mailqueue.events.model import Type
from tests import make
from tests.analytics import folding
from tests.clients.serving import Served
from tests.events.sent_mail import NOON, event, left, told

pytestmark = pytest.mark.usefixtures("resend_here")
DAY = NOON.date()
WEEK: Any = {
    "start_date": (DAY - timedelta(days=4)).isoformat(),
    "end_date": (DAY + timedelta(days=2)).isoformat(),
    "dimensions": ["period"],
}


@pytest.fixture(scope="module", autouse=True)
def furnished(site: Served) -> None:
    """Write four mails: two opened, one of them clicked, one bounced and one complained about."""
    site.run(_furnished(site))


async def _furnished(site: Served) -> None:
    async with connect(site.database) as conn:
        account = await make.sender_account(conn, name="counted")
        mails = [await left(conn, account) for _ in range(4)]
        await told(
            conn,
            event(Type.OPENED, email_id=mails[0], account=account),
            event(Type.OPENED, email_id=mails[0], account=account),
            event(Type.OPENED, email_id=mails[1], account=account),
            event(Type.CLICKED, email_id=mails[1], account=account),
            event(Type.HARD_BOUNCE, email_id=mails[2], account=account),
            event(Type.COMPLAINT, email_id=mails[3], account=account),
        )
        await folding.caught_up(conn)


def counted(**given: Any) -> Any:
    params: Any = given
    return resend.Emails.metrics(params)


def test_mail_is_counted_in_all_and_by_span(site: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    found = counted(start_date=WEEK["start_date"])
    totals = found["totals"]
    assert (found["object"], found["granularity"], found["dimensions"]) == ("metrics", "daily", [])
    assert "data" not in found
    assert {name: count for name, count in totals.items() if count} == {
        "sent": 4,
        "bounced": 1,
        "bounced_permanent": 1,
        "complained": 1,
        "opened": 3,
        "unique_opened": 2,
        "clicked": 1,
        "unique_clicked": 1,
    }
    assert found["metrics"] == list(totals)

    by_day = counted(**WEEK, metrics=["sent", "opened"])
    assert by_day["totals"] == {"sent": 4, "opened": 3}
    assert len(by_day["data"]) == 7
    days = {one["period"]: one for one in by_day["data"]}
    assert days[f"{DAY}T00:00:00"]["opened"] == 3
    assert sum(one["sent"] for one in by_day["data"]) == 4
    assert set(by_day["data"][0]) == {"period", "sent", "opened"}
    by_month = counted(**WEEK, granularity="monthly", timezone="Asia/Tokyo", metrics=["sent"])
    assert sum(one["sent"] for one in by_month["data"]) == 4
    earlier = (DAY - timedelta(days=1)).isoformat()
    before = counted(**{**WEEK, "end_date": earlier, "granularity": "monthly"})
    assert set(before["totals"].values()) == {0}

    for key in (site.keys.other, site.keys.test):
        monkeypatch.setattr(resend, "api_key", key)
        none = counted(**WEEK)
        assert set(none["totals"].values()) == {0}


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"metrics": ["sent", "received"]}, "metrics"),
        ({"dimensions": ["domain"]}, "dimensions"),
        ({"domain_id": ["x"]}, "domain_id"),
        ({"start_date": "soon"}, "start_date"),
        ({"start_date": "2020-01-02", "end_date": "2020-01-01"}, "start_date"),
        ({"end_date": "0001-01-02"}, "start_date"),
        ({"end_date": "9999-12-31"}, "end_date"),
        ({"timezone": "Mars/Base"}, "timezone"),
        ({"granularity": "yearly"}, "granularity"),
        ({"start_date": "2020-01-01", "granularity": "hourly"}, "granularity"),
    ],
)
def test_what_is_invalid_is_named(given: Any, named: str) -> None:
    with pytest.raises(ResendError, match=named):
        counted(**given)
