"""The published Python library of Resend adds, lists, changes and removes webhooks, and shows and
replays their events.
"""

from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
import resend
from resend.exceptions import ResendError

from mailqueue.db.pool import connect
from tests.clients.resend.mails import hello
from tests.clients.serving import Served
from tests.webhooks.delivering import told

pytestmark = pytest.mark.usefixtures("resend_here")
URL = "https://app.example.com/hooks"


@pytest.fixture(autouse=True)
def without_webhooks(resend_here: None) -> None:
    for one in resend.Webhooks.list({"limit": 100})["data"]:
        resend.Webhooks.remove(one["id"])


def added(events: list[Any] | None = None, url: str = URL) -> Any:
    return resend.Webhooks.create({"endpoint": url, "events": events or ["email.bounced"]})


def test_a_webhook_is_added_with_a_secret_that_verifies_as_theirs() -> None:
    made = added(["email.delivered", "email.bounced"])
    shown: Any = resend.Webhooks.get(made["id"])

    assert made["object"] == "webhook"
    assert made["signing_secret"].startswith("whsec_")
    assert UUID(made["id"])
    assert (shown["object"], shown["status"], shown["endpoint"]) == ("webhook", "enabled", URL)
    assert shown["events"] == ["email.delivered", "email.bounced"]
    assert "signing_secret" not in shown


def test_pages_have_each_webhook_once_newest_first_in_both_directions() -> None:
    ids = [added(url=f"{URL}/{number}")["id"] for number in range(5)]
    first: Any = resend.Webhooks.list({"limit": 2})
    second: Any = resend.Webhooks.list({"limit": 2, "after": first["data"][-1]["id"]})
    last: Any = resend.Webhooks.list({"limit": 2, "after": second["data"][-1]["id"]})
    back: Any = resend.Webhooks.list({"limit": 2, "before": second["data"][0]["id"]})

    pages = [first, second, last]
    assert [one["id"] for page in pages for one in page["data"]] == ids[::-1]
    assert [page["has_more"] for page in pages] == [True, True, False]
    assert (back["data"], back["has_more"]) == (first["data"], False)


def test_a_webhook_is_changed_in_what_is_given_alone() -> None:
    made = added(["email.delivered"])
    other = f"{URL}/other"
    resend.Webhooks.update({"webhook_id": made["id"], "endpoint": other})
    moved: Any = resend.Webhooks.get(made["id"])
    resend.Webhooks.update({"webhook_id": made["id"], "status": "disabled"})
    off: Any = resend.Webhooks.get(made["id"])
    resend.Webhooks.update({"webhook_id": made["id"], "events": ["email.clicked"]})
    clicked: Any = resend.Webhooks.get(made["id"])

    assert (moved["endpoint"], moved["events"]) == (other, ["email.delivered"])
    assert (off["status"], off["endpoint"]) == ("disabled", other)
    assert (clicked["events"], clicked["status"]) == (["email.clicked"], "disabled")


def test_a_webhook_is_removed() -> None:
    made = added()
    gone: Any = resend.Webhooks.remove(made["id"])

    assert (gone["object"], gone["id"], gone["deleted"]) == ("webhook", made["id"], True)
    with pytest.raises(ResendError, match="Webhook not found"):
        resend.Webhooks.get(made["id"])


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"endpoint": "ftp://example.com", "events": ["email.sent"]}, "endpoint"),
        ({"endpoint": "https://127.0.0.2/x", "events": ["email.sent"]}, "endpoint"),
        ({"endpoint": URL, "events": ["contact.created"]}, "events"),
        ({"endpoint": URL, "events": []}, "events"),
        ({"endpoint": URL}, "events"),
        ({"endpoint": 7, "events": ["email.sent"]}, "endpoint"),
    ],
)
def test_what_is_invalid_is_named(given: Any, named: str) -> None:
    with pytest.raises(ResendError, match=named):
        resend.Webhooks.create(given)


def test_a_webhook_that_is_unknown_or_in_another_format_is_not_found(site: Served) -> None:
    headers = {"X-API-Key": site.keys.live}
    with httpx2.Client(base_url=site.url, headers=headers) as http:
        given = {"url": URL, "event_types": ["email.sent"]}
        answer = http.post("/v1/webhooks", json=given)
        assert answer.status_code == 201, answer.text
        other = answer.json()["webhook"]["id"]
        try:
            for webhook_id in (other, str(uuid4())):
                with pytest.raises(ResendError, match="Webhook not found"):
                    resend.Webhooks.remove(webhook_id)
            assert resend.Webhooks.list()["data"] == []
        finally:
            http.delete(f"/v1/webhooks/{other}")


async def _tell(site: Served, email_id: str, kind: str) -> None:
    async with connect(site.database) as conn:
        await told(conn, kind=kind, email_id=UUID(email_id))


def _end(site: Served, event_id: str) -> None:
    """Log two attempts of a delivery: one without an answer, and one that ends it."""
    site.rows(
        "WITH ended AS (UPDATE mailqueue.webhook_deliveries SET status = 'failed', attempts = 2,"
        " last_code = 500, finished_at = now() WHERE id = %s RETURNING *)"
        " INSERT INTO mailqueue.webhook_attempts SELECT e.id, now() + n * interval '1 s',"
        " e.project_id, e.webhook_id, n, code, error, 9, '{}', response FROM ended AS e,"
        " (VALUES (1, NULL::int, 'no route', NULL), (2, 500, 'status 500', 'oops'))"
        " AS t (n, code, error, response) RETURNING 1",
        event_id,
    )


def test_events_are_listed_shown_and_replayed_with_their_attempts(site: Served) -> None:
    hook = added(["email.bounced", "email.delivered"])["id"]
    email = resend.Emails.send(hello())["id"]
    for kind in ("hard_bounce", "delivered"):
        site.run(_tell(site, email, kind))

    first: Any = resend.Webhooks.list_events(hook, {"limit": 1})
    (newest,) = first["data"]
    second: Any = resend.Webhooks.list_events(hook, {"limit": 1, "after": newest["id"]})
    (bounced,) = second["data"]
    assert (first["has_more"], second["has_more"]) == (True, False)
    assert (newest["type"], bounced["type"]) == ("email.delivered", "email.bounced")
    assert (bounced["status"], newest["status"]) == ("pending", "pending")
    shown: Any = resend.Webhooks.get_event(hook, bounced["id"])
    assert (shown["object"], shown["next_attempt_at"] is None) == ("webhook_event", False)
    payload = shown["payload"]
    assert (payload["type"], payload["data"]["email_id"]) == ("email.bounced", email)
    assert (payload["data"]["subject"], payload["data"]["bounce"]["type"]) == (
        "hello world",
        "Permanent",
    )

    with pytest.raises(ResendError, match="has not ended"):
        resend.Webhooks.replay_event(hook, bounced["id"])
    _end(site, bounced["id"])
    page: Any = resend.Webhooks.list_event_attempts(hook, bounced["id"], {"limit": 1})
    (last,) = page["data"]
    assert (last["http_status_code"], last["response"], page["has_more"]) == (500, "oops", True)
    after: Any = resend.Webhooks.list_event_attempts(hook, bounced["id"], {"after": last["id"]})
    assert [(one["http_status_code"], one["response"]) for one in after["data"]] == [
        (None, "no route")
    ]
    failed: Any = resend.Webhooks.get_event(hook, bounced["id"])
    assert (failed["status"], failed["next_attempt_at"]) == ("failed", None)
    again: Any = resend.Webhooks.replay_event(hook, bounced["id"])
    replayed: Any = resend.Webhooks.get_event(hook, bounced["id"])
    assert (again["id"], replayed["status"]) == (bounced["id"], "pending")

    other = added(url=f"{URL}/other")["id"]
    for asked in (resend.Webhooks.get_event, resend.Webhooks.replay_event):
        with pytest.raises(ResendError, match="Delivery not found"):
            asked(other, bounced["id"])
    assert resend.Webhooks.list_events(other)["data"] == []


def test_a_rotated_secret_is_another(site: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    made = added()
    rotated: Any = resend.Webhooks.rotate_signing_secret(made["id"])

    assert (rotated["object"], rotated["id"]) == ("webhook", made["id"])
    assert rotated["signing_secret"].startswith("whsec_")
    assert rotated["signing_secret"] != made["signing_secret"]
    monkeypatch.setattr(resend, "api_key", site.keys.other)
    with pytest.raises(ResendError, match="Webhook not found"):
        resend.Webhooks.rotate_signing_secret(made["id"])
    with pytest.raises(ResendError, match="Webhook not found"):
        resend.Webhooks.list_events(made["id"])
