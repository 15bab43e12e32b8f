"""The published `sendgrid` library counts what became of the mail of single sends."""

from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import UUID, uuid4

import pytest
from python_http_client.exceptions import NotFoundError

from mailqueue.events.model import Type
from tests.clients.resend.test_broadcast_outcomes import happen, send
from tests.clients.resend.test_broadcasts import run
from tests.clients.sendgrid.singlesends.test_single_sends import (
    ANN,
    BOB,
    added,
    api,
    listed,
    of,
    read,
    refused,
    whole,
)
from tests.clients.serving import Served

__all__ = ["api"]
SHOP, HELP = "https://shop.example.com/", "https://help.example.com/"
NOTHING = {
    "bounce_drops": 0,
    "bounces": 0,
    "clicks": 0,
    "delivered": 0,
    "invalid_emails": 0,
    "opens": 0,
    "requests": 0,
    "spam_report_drops": 0,
    "spam_reports": 0,
    "unique_clicks": 0,
    "unique_opens": 0,
    "unsubscribes": 0,
}


@pytest.fixture(autouse=True)
def emptied(site: Served) -> None:
    site.rows("DELETE FROM mailqueue.list_sends RETURNING 1")


def sent(site: Served, api: Any, *emails: str) -> tuple[str, dict[str, UUID]]:
    """Send a single send; return its id, and that of each mail by the address."""
    news = listed(api, f"News {uuid4()}", *({"email": email} for email in emails))
    made = added(api, whole(api, news))["id"]
    api.marketing.singlesends._(made).schedule.put(request_body={"send_at": "now"})
    run(site)
    found = dict(site.rows("SELECT recipient_email, id FROM mailqueue.email_queue"))
    site.run(send(site, len(found)))
    return made, found


def test_mail_is_counted_by_what_happened_to_it(site: Served, api: Any) -> None:
    made, mails = sent(site, api, ANN, BOB)
    draft = added(api, {"name": "Draft"})["id"]
    happen(site, mails[ANN], Type.DELIVERED, Type.OPENED, Type.OPENED, Type.UNSUBSCRIBED)
    happen(site, mails[ANN], Type.CLICKED, Type.CLICKED, url=SHOP)
    happen(site, mails[BOB], Type.HARD_BOUNCE, Type.COMPLAINT)
    happen(site, mails[BOB], Type.OPENED, is_machine="true")
    stats = api.marketing.stats.singlesends
    counts = NOTHING | {
        "requests": 2,
        "delivered": 1,
        "bounces": 1,
        "opens": 2,
        "unique_opens": 1,
        "clicks": 2,
        "unique_clicks": 1,
        "spam_reports": 1,
        "unsubscribes": 1,
    }
    (one,) = read(stats._(made).get(query_params={"aggregated_by": "total"}))["results"]
    every = read(stats.get())

    assert (one["id"], one["stats"], one["aggregation"]) == (made, counts, "total")
    assert (one["ab_variation"], one["ab_phase"]) == ("all", "all")
    assert [each["stats"] for each in every["results"]] == [NOTHING, counts]
    assert every["_metadata"]["count"] == 2
    chosen = read(stats.get(query_params={"singlesend_ids": f"{made},{uuid4()}"}))
    assert chosen["results"] == [one]
    first = read(stats.get(query_params={"page_size": 1}))
    assert first["_metadata"]["next"].endswith(f"?page_size=1&page_token={draft}")
    rest = read(stats.get(query_params={"page_size": 1, "page_token": draft}))
    assert rest["results"] == [one]
    both = {"singlesend_ids": f"{made},{draft}", "page_size": 1}
    following = read(stats.get(query_params=both))["_metadata"]["next"]
    assert dict(parse_qsl(urlsplit(following).query)) == {
        "singlesend_ids": f"{made},{draft}",
        "page_size": "1",
        "page_token": draft,
    }


def test_links_are_counted_the_most_clicked_first(site: Served, api: Any) -> None:
    made, mails = sent(site, api, ANN, BOB)
    for mail in mails.values():
        happen(site, mail, Type.CLICKED, url=SHOP)
    happen(site, mails[ANN], Type.CLICKED, url=HELP)
    clicked = api.marketing.stats.singlesends._(made).links
    found = read(clicked.get())

    counts = [(one["url"], one["clicks"]) for one in found["results"]]
    assert (counts, found["total_clicks"]) == ([(SHOP, 2), (HELP, 1)], 3)
    first = read(clicked.get(query_params={"page_size": 1}))
    assert (first["results"], first["total_clicks"]) == (found["results"][:1], 3)
    token = first["_metadata"]["next"].rpartition("page_token=")[2]
    rest = read(clicked.get(query_params={"page_token": token}))
    assert (rest["results"], "next" in rest["_metadata"]) == (found["results"][1:], False)


def test_what_cannot_be_counted_is_named(site: Served, api: Any) -> None:
    made = added(api, {"name": "Draft"})["id"]
    stats = api.marketing.stats.singlesends
    for query, field in (
        ({"aggregated_by": "day"}, "aggregated_by"),
        ({"timezone": "Europe/Oslo"}, "timezone"),
        ({"start_date": "2030-01-01"}, "start_date"),
        ({"page_size": 51}, "page_size"),
        ({"page_token": str(uuid4())}, "page_token"),
    ):
        assert refused(stats._(made).get, query_params=query) == field
    assert refused(stats.get, query_params={"singlesend_ids": "x"}) == "singlesend_ids"
    links = stats._(made).links
    assert refused(links.get, query_params={"page_token": str(uuid4())}) == "page_token"
    other = of(site, site.keys.other).marketing.stats.singlesends
    for call in (other._(made).get, other._(made).links.get, stats._(str(uuid4())).get):
        with pytest.raises(NotFoundError):
            call()
    assert read(other.get())["results"] == []
