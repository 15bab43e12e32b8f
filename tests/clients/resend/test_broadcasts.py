"""The published Python library of Resend writes broadcasts, which are sent to a list."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
import requests
import resend
from resend.exceptions import ResendError

from mailqueue.db.pool import connect
from mailqueue.projects.model import Scope
from tests.clients.resend.people import ANN, added, empty, segment
from tests.clients.serving import Served
from tests.schedules import turning

pytestmark = pytest.mark.usefixtures("resend_here")
Broadcasts = resend.Broadcasts
HTML = (
    "<body><p>Hello {{{contact.first_name|friend}}}, plan {{{contact.plan|free}}}, {{{EMAIL}}}</p>"
    '<a href="{{{RESEND_UNSUBSCRIBE_URL}}}">leave</a></body>'
)

OWN = {"templates": "WHERE slug LIKE 'broadcast-%%' AND deleted_at IS NULL"}


@pytest.fixture(autouse=True)
def emptied(site: Served) -> None:
    empty(site)
    for table in ("broadcasts", "schedule_runs", "schedules", "subscription_categories"):
        site.rows(f"DELETE FROM mailqueue.{table} RETURNING 1")
    site.rows(
        "UPDATE mailqueue.templates SET deleted_at = now() WHERE slug ~ 'broadcast' RETURNING 1"
    )
    site.rows("DELETE FROM mailqueue.email_queue RETURNING 1")


def draft(segment_id: str, **fields: Any) -> str:
    """Add a broadcast and return its id."""
    given: Any = {"from": "Acme <news@example.com>", "subject": "News", "html": HTML}
    given |= {"segment_id": segment_id, **fields}
    made: Any = Broadcasts.create(given)
    return str(made["id"])


def run(site: Served, **parts: Any) -> None:
    """Let workers run what is to be sent at once, and make the mail of the runs, in `parts`."""
    site.rows(
        "UPDATE mailqueue.schedules SET once_at = now(), next_run_at = now(), run_at = now()"
        " WHERE once_at < now() + interval '1 min' AND status = 'pending' RETURNING 1"
    )

    async def once() -> None:
        async with connect(site.database) as conn:
            await turning.turn(conn)
            await turning.make_runs(conn, **parts)

    site.run(once())


def status(broadcast: str) -> str:
    return str(Broadcasts.get(broadcast)["status"])


def test_a_draft_is_shown_changed_copied_listed_and_removed() -> None:
    news, tips = segment("News"), segment("Tips")
    topic = str(resend.Topics.create({"name": "Weekly", "default_subscription": "opt_in"})["id"])
    made = draft(news, reply_to="help@example.com", preview_text="In short", topic_id=topic)
    shown: Any = Broadcasts.get(made)
    changed: Any = {"broadcast_id": made, "segment_id": tips, "name": "May", "topic_id": None}
    Broadcasts.update(changed | {"subject": "More news"})
    again: Any = Broadcasts.get(made)
    copy: Any = Broadcasts.duplicate(made)
    page: Any = Broadcasts.list({"limit": 1})
    rest: Any = Broadcasts.list({"limit": 1, "after": copy["id"]})
    newer: Any = Broadcasts.list({"before": made})

    assert (shown["object"], shown["id"], shown["status"]) == ("broadcast", made, "draft")
    assert (shown["name"], shown["from"]) == ("News", "Acme <news@example.com>")
    assert (shown["segment_id"], shown["audience_id"], shown["topic_id"]) == (news, news, topic)
    assert (shown["html"], shown["text"], shown["preview_text"]) == (HTML, None, "In short")
    assert (shown["reply_to"], shown["scheduled_at"]) == (["help@example.com"], None)
    assert (again["segment_id"], again["name"], again["topic_id"]) == (tips, "May", None)
    assert (again["subject"], again["html"]) == ("More news", HTML)
    assert (page["data"][0]["id"], page["has_more"]) == (copy["id"], True)
    assert [one["id"] for one in rest["data"]] == [made]
    assert [one["name"] for one in newer["data"]] == ["May (copy)"]
    gone: Any = Broadcasts.remove(made)
    assert (gone["object"], gone["id"], gone["deleted"]) == ("broadcast", made, True)
    with pytest.raises(ResendError, match="Broadcast not found"):
        Broadcasts.get(made)


def test_a_broadcast_is_sent_to_each_contact_of_its_segment(site: Served) -> None:
    news = segment()
    added(first_name="Ann", properties={"plan": "pro"}, segments=[{"id": news}])
    added("bob@example.org", segments=[{"id": news}])
    added("other@example.org")
    made = draft(news, preview_text="In short & sweet")
    sent: Any = Broadcasts.send({"broadcast_id": made})
    before = status(made)
    run(site)

    assert (sent["id"], before, status(made)) == (made, "queued", "sent")
    assert Broadcasts.get(made)["sent_at"] is not None
    mails = {
        one["to"][0].split("<")[-1].rstrip(">"): resend.Emails.get(one["id"])
        for one in resend.Emails.list()["data"]
    }
    assert set(mails) == {ANN, "bob@example.org"}
    ann: Any = mails[ANN]["html"]
    assert (mails[ANN]["from"], mails[ANN]["subject"]) == ("Acme <news@example.com>", "News")
    assert f"Hello Ann, plan pro, {ANN}" in ann
    assert "In short &amp; sweet" in ann
    assert "Hello friend, plan free, bob@example.org" in str(mails["bob@example.org"]["html"])
    categories = site.rows("SELECT DISTINCT category FROM mailqueue.email_queue")
    assert categories == [("marketing",)]


def test_contacts_that_left_its_topic_are_left_out(site: Served) -> None:
    news = segment()
    topic: Any = resend.Topics.create({"name": "Weekly", "default_subscription": "opt_in"})
    added(segments=[{"id": news}])
    left: Any = [{"id": topic["id"], "subscription": "opt_out"}]
    added("bob@example.org", segments=[{"id": news}], topics=left)
    draft(news, topic_id=topic["id"], send=True)
    run(site)

    mails = site.rows("SELECT recipient_email, category FROM mailqueue.email_queue")
    assert mails == [(ANN, "weekly")]


def test_a_scheduled_broadcast_is_canceled_and_sent_later(site: Served) -> None:
    news = segment()
    added(segments=[{"id": news}])
    made = draft(news, send=True, scheduled_at="in 1 hour")
    shown: Any = Broadcasts.get(made)
    at = datetime.fromisoformat(shown["scheduled_at"])
    run(site)

    assert shown["status"] == status(made) == "scheduled"
    assert at - datetime.now(UTC) > timedelta(minutes=50)
    with pytest.raises(ResendError, match="draft"):
        Broadcasts.update({"broadcast_id": made, "subject": "Late"})
    with pytest.raises(ResendError, match="draft"):
        Broadcasts.send({"broadcast_id": made})
    assert Broadcasts.cancel(made)["id"] == made
    again: Any = Broadcasts.get(made)
    assert (again["status"], again["scheduled_at"]) == ("draft", None)
    assert site.rows(f"SELECT 1 FROM mailqueue.templates {OWN['templates']}") == []
    Broadcasts.send({"broadcast_id": made})
    run(site)
    assert status(made) == "sent"
    for call in (Broadcasts.cancel, Broadcasts.remove):
        with pytest.raises(ResendError, match="is sent"):
            call(made)


def test_removing_a_scheduled_broadcast_sends_nothing(site: Served) -> None:
    news = segment()
    added(segments=[{"id": news}])
    Broadcasts.remove(draft(news, send=True))
    run(site)

    assert Broadcasts.list()["data"] == []
    assert site.rows("SELECT 1 FROM mailqueue.email_queue") == []


def test_one_whose_schedule_is_past_its_retention_stays_sent(site: Served) -> None:
    made = draft(segment(), send=True)
    run(site)
    site.rows("DELETE FROM mailqueue.schedules RETURNING 1")

    assert status(made) == "sent"


def test_a_key_sees_and_changes_its_project_alone(
    site: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    news = segment()
    made = draft(news)
    topic: Any = resend.Topics.create({"name": "Weekly", "default_subscription": "opt_in"})
    calls: list[Any] = [
        lambda: Broadcasts.get(made),
        lambda: Broadcasts.update({"broadcast_id": made, "subject": "Mine"}),
        lambda: Broadcasts.send({"broadcast_id": made}),
        lambda: Broadcasts.cancel(made),
        lambda: Broadcasts.duplicate(made),
        lambda: Broadcasts.remove(made),
    ]
    monkeypatch.setattr(resend, "api_key", site.keys.other)
    own = segment("Own")
    for call in [*calls, lambda: draft(news), lambda: draft(own, topic_id=topic["id"])]:
        with pytest.raises(ResendError, match="not found") as caught:
            call()
        assert caught.value.code == 404
    assert Broadcasts.list()["data"] == []
    for key in (site.keys.test, site.key_with(Scope.CONTACTS_WRITE)):
        monkeypatch.setattr(resend, "api_key", key)
        for call in [*calls, lambda: draft(news), Broadcasts.list]:
            with pytest.raises(ResendError, match="lacks"):
                call()
    assert site.rows("SELECT name FROM mailqueue.broadcasts") == [("News",)]


NO_ID = str(UUID(int=7))
CANNOT: list[tuple[dict[str, Any], int, str]] = [
    ({"from": None}, 422, "from"),
    ({"from": "nobody"}, 422, "from"),
    ({"subject": None}, 422, "subject"),
    ({"subject": 7}, 422, "subject"),
    ({"subject": "a\0b"}, 422, "subject"),
    ({"segment_id": None}, 422, "segment_id"),
    ({"segment_id": "x"}, 422, "segment_id"),
    ({"segment_id": NO_ID}, 404, "Segment not found"),
    ({"topic_id": NO_ID}, 404, "Topic not found"),
    ({"reply_to": ["a@example.com", "x"]}, 422, "reply_to"),
    ({"name": "x" * 201}, 422, "name"),
    ({"scheduled_at": "in 1 hour"}, 422, "scheduled_at"),
    ({"send": "yes"}, 422, "send"),
    ({"send": True, "scheduled_at": "soon"}, 422, "scheduled_at"),
    ({"send": True, "html": None}, 422, "html"),
    ({"send": True, "html": "{{{contact.first_name"}, 422, "html"),
    ({"send": True, "html": "{{{order.number}}}"}, 422, "html"),
    ({"send": True, "html": "{% if %}"}, 422, "html"),
    ({"send": True, "html": None, "text": "Hello", "preview_text": "x"}, 422, "preview_text"),
    ({"attachments": []}, 422, "not supported"),
]


@pytest.mark.parametrize(("fields", "code", "named"), CANNOT)
def test_what_is_invalid_is_named_and_adds_nothing(
    site: Served, fields: dict[str, Any], code: int, named: str
) -> None:
    given = {"from": "news@example.com", "subject": "News", "html": "x", "segment_id": segment()}
    body = {name: value for name, value in (given | fields).items() if value is not None}
    headers = {"Authorization": f"Bearer {site.keys.live}"}
    answer = requests.post(f"{site.url}/broadcasts", json=body, headers=headers, timeout=30)

    assert answer.status_code == code, answer.text
    assert named in answer.json()["message"]
    for table in ("broadcasts", "schedules", "templates"):
        assert site.rows(f"SELECT 1 FROM mailqueue.{table} {OWN.get(table, '')}") == []
