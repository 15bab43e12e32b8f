"""The published `sendgrid` library writes single sends, which are sent to a list."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
import requests
from python_http_client.exceptions import BadRequestsError, HTTPError, NotFoundError
from sendgrid import SendGridAPIClient

from tests.clients.resend.people import empty
from tests.clients.resend.test_broadcasts import run
from tests.clients.sendgrid.test_senders import SHOP
from tests.clients.serving import Served

ANN, BOB = "ann@example.org", "bob@example.org"
HTML = (
    '<p>Hello {{insert first_name "default=friend"}}, plan {{plan}}{{#if vip}}!{{/if}}</p>'
    '<a href="{{{unsubscribe}}}">leave</a> {{Sender_Name}}, {{Sender_City}}'
)
TABLES = ("broadcasts", "schedule_runs", "schedules", "subscription_categories", "email_queue")


@pytest.fixture
def api(site: Served) -> Iterator[Any]:
    empty(site)
    for table in (*TABLES, "project_rules"):
        site.rows(f"DELETE FROM mailqueue.{table} RETURNING 1")
    yield of(site, site.keys.live)
    site.rows("DELETE FROM mailqueue.project_rules RETURNING 1")


def of(site: Served, key: str) -> Any:
    return SendGridAPIClient(key, host=site.url).client


def read(response: Any) -> Any:
    return json.loads(response.body)


def listed(api: Any, name: str = "News", *contacts: dict[str, Any]) -> str:
    """Add a list with contacts and return its id."""
    made = str(read(api.marketing.lists.post(request_body={"name": name}))["id"])
    if contacts:
        body = {"list_ids": [made], "contacts": list(contacts)}
        api.marketing.contacts.put(request_body=body)
    return made


def whole(api: Any, list_id: str, **mail: Any) -> dict[str, Any]:
    """Return the body of a single send that can be sent."""
    sender = next((one["id"] for one in read(api.senders.get())), None)
    if sender is None:
        sender = read(api.senders.post(request_body=SHOP))["id"]
    group = {"name": f"News {uuid4()}", "description": "All of it"}
    config: dict[str, Any] = {
        "subject": "News for {{first_name}}",
        "html_content": HTML,
        "sender_id": sender,
        "suppression_group_id": read(api.asm.groups.post(request_body=group))["id"],
    }
    return {
        "name": "May",
        "categories": ["spring", "shop"],
        "send_to": {"list_ids": [list_id]},
        "email_config": config | mail,
    }


def added(api: Any, body: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = read(api.marketing.singlesends.post(request_body=body))
    return made


def mail(site: Served, email_id: str) -> dict[str, Any]:
    """Return a mail as it is sent, which Resend's API shows."""
    key = {"Authorization": f"Bearer {site.keys.live}"}
    answer = requests.get(f"{site.url}/emails/{email_id}", headers=key, timeout=60)
    shown: dict[str, Any] = answer.json()
    return shown


def refused(call: Any, **given: Any) -> str | None:
    """Return the field that an answer names."""
    with pytest.raises(BadRequestsError) as caught:
        call(**given)
    field: str | None = caught.value.to_dict["errors"][0]["field"]
    return field


def test_a_draft_is_shown_changed_copied_listed_and_removed(api: Any) -> None:
    sends = api.marketing.singlesends
    news = listed(api)
    answer = sends.post(request_body=whole(api, news))
    made = read(answer)
    one = sends._(made["id"])

    assert (answer.status_code, made["name"], made["status"]) == (201, "May", "draft")
    assert made["send_to"] == {"list_ids": [news], "segment_ids": [], "all": False}
    assert (made["categories"], made["send_at"]) == (["spring", "shop"], None)
    assert made["email_config"]["html_content"] == HTML
    assert made["email_config"]["editor"] == "code"
    assert read(one.get()) == made
    changed = one.patch(request_body={"name": "June", "email_config": {"subject": "Sun"}})
    config = made["email_config"] | {"subject": "Sun"}
    assert (changed.status_code, read(changed)["email_config"]) == (202, config)
    assert (read(one.get())["name"], read(one.get())["send_to"]) == ("June", made["send_to"])
    copied = one.post(request_body={})
    copy = read(copied)
    assert (copied.status_code, copy["name"]) == (201, "Copy of June")
    assert (copy["email_config"], copy["status"]) == (config, "draft")
    named = read(one.post(request_body={"name": "July"}))
    assert named["name"] == "July"
    first = read(sends.get(query_params={"page_size": 2}))
    assert [each["id"] for each in first["result"]] == [named["id"], copy["id"]]
    assert (first["_metadata"]["count"], first["result"][0]["is_abtest"]) == (3, False)
    assert first["_metadata"]["next"].endswith(f"page_size=2&page_token={copy['id']}")
    rest = read(sends.get(query_params={"page_size": 2, "page_token": copy["id"]}))
    assert [each["id"] for each in rest["result"]] == [made["id"]]
    assert "next" not in rest["_metadata"]
    assert one.delete().status_code == 204
    gone = sends.delete(query_params={"ids": f"{copy['id']},{uuid4()},{named['id']}"})
    assert (gone.status_code, read(sends.get())["result"]) == (204, [])
    with pytest.raises(NotFoundError):
        one.get()


def test_single_sends_are_found_by_name_status_and_category(api: Any) -> None:
    sends = api.marketing.singlesends
    may = added(api, {"name": "May news", "categories": ["shop", "b"]})
    june = added(api, {"name": "June NEWS", "categories": ["a"]})

    def found(**sought: Any) -> list[str]:
        return [one["id"] for one in read(sends.search.post(request_body=sought))["result"]]

    assert found(name="news") == [june["id"], may["id"]]
    assert found(name="may") == found(categories=["b", "c"]) == [may["id"]]
    assert found(status=["draft"], categories=["a"]) == [june["id"]]
    assert found(status=["scheduled", "triggered"]) == []
    assert read(sends.categories.get()) == {"categories": ["a", "b", "shop"]}
    assert refused(sends.search.post, request_body={"status": ["sent"]}) == "status.0"


def test_a_single_send_is_sent_to_each_contact_of_its_list(site: Served, api: Any) -> None:
    news = listed(
        api,
        "News",
        {"email": ANN, "first_name": "Ann", "custom_fields": {"plan": "pro", "vip": "yes"}},
        {"email": BOB},
    )
    listed(api, "Other", {"email": "carl@example.org"})
    made = added(api, whole(api, news))
    one = api.marketing.singlesends._(made["id"])
    answer = one.schedule.put(request_body={"send_at": "now"})

    assert (answer.status_code, read(answer)["status"]) == (201, "scheduled")
    assert read(one.get())["status"] == "scheduled"
    run(site)
    after = read(one.get())
    assert after["status"] == "triggered"
    at = datetime.fromisoformat(after["send_at"])
    assert abs(at - datetime.now(UTC)) < timedelta(minutes=5)
    rows = site.rows(
        "SELECT recipient_email, id, category FROM mailqueue.email_queue ORDER BY recipient_email"
    )
    group = made["email_config"]["suppression_group_id"]
    assert [(row[0], row[2]) for row in rows] == [(ANN, f"asm-{group}"), (BOB, f"asm-{group}")]
    (kept,) = {site.email(str(row[1]))["reply_to"] for row in rows}
    assert kept == "help@example.com"
    ann, bob = (mail(site, str(row[1])) for row in rows)
    assert (ann["subject"], bob["subject"]) == ("News for Ann", "News for")
    assert ann["from"] == "The shop <orders@example.com>"
    assert sorted(site.email(str(rows[0][1]))["tags"]) == ["shop", "spring"]
    assert "Hello Ann, plan pro!</p>" in ann["html"]
    assert "Hello friend, plan </p>" in bob["html"]
    assert "The shop, Oslo" in ann["html"]
    assert "unsubscribe}" not in ann["html"]


def test_who_is_in_several_lists_gets_one_mail(site: Served, api: Any) -> None:
    carl = "carl@example.org"
    news = listed(api, "News", {"email": ANN, "city": "Oslo"}, {"email": BOB, "city": "Oslo"})
    shop = listed(api, "Shop", {"email": ANN}, {"email": carl})
    body = {"name": "Of Oslo", "query_dsl": '$.attributes.city == "Oslo"'}
    oslo = read(api.marketing.segments._("2.0").post(request_body=body))["id"]
    to = {"list_ids": [news, shop, news], "segment_ids": [oslo]}
    made = added(api, whole(api, news) | {"send_to": to})
    api.marketing.singlesends._(made["id"]).schedule.put(request_body={"send_at": "now"})
    run(site)

    mails = site.rows("SELECT recipient_email FROM mailqueue.email_queue ORDER BY 1")
    assert mails == [(ANN,), (BOB,), (carl,)]


def test_one_scheduled_is_unscheduled_and_scheduled_again(site: Served, api: Any) -> None:
    made = added(api, whole(api, listed(api, "News", {"email": ANN})))
    one = api.marketing.singlesends._(made["id"])
    at = (datetime.now(UTC) + timedelta(days=40)).replace(microsecond=0)
    answer = read(one.schedule.put(request_body={"send_at": at.isoformat()}))

    assert datetime.fromisoformat(answer["send_at"]) == at
    assert datetime.fromisoformat(read(one.get())["send_at"]) == at
    assert refused(one.patch, request_body={"name": "Late"}) is None
    assert refused(one.schedule.put, request_body={"send_at": "now"}) is None
    undone = one.schedule.delete()
    assert (undone.status_code, read(undone)["status"]) == (200, "draft")
    assert refused(one.schedule.delete) is None
    one.schedule.put(request_body={"send_at": "now"})
    run(site)
    assert read(one.get())["status"] == "triggered"
    for call in (one.delete, one.schedule.delete):
        assert refused(call) is None
    assert read(one.get())["status"] == "triggered"


def test_removing_one_that_is_scheduled_sends_nothing(site: Served, api: Any) -> None:
    made = added(api, whole(api, listed(api, "News", {"email": ANN})))
    one = api.marketing.singlesends._(made["id"])
    one.schedule.put(request_body={"send_at": "now"})
    one.delete()
    run(site)

    assert site.rows("SELECT 1 FROM mailqueue.email_queue") == []
    assert read(api.marketing.singlesends.get())["result"] == []


def test_a_key_sees_and_changes_its_project_alone(site: Served, api: Any) -> None:
    made = added(api, whole(api, listed(api)))
    other = of(site, site.keys.other).marketing.singlesends
    one = other._(made["id"])
    for call in (
        one.get,
        one.delete,
        one.schedule.delete,
        lambda: one.post(request_body={}),
        lambda: one.patch(request_body={"name": "Mine"}),
        lambda: one.schedule.put(request_body={"send_at": "now"}),
    ):
        with pytest.raises(NotFoundError):
            call()
    assert other.delete(query_params={"ids": made["id"]}).status_code == 204
    assert read(other.get())["result"] == []
    with pytest.raises(HTTPError) as lacking:
        of(site, site.keys.test).marketing.singlesends.get()
    assert lacking.value.status_code == 403
    assert read(api.marketing.singlesends._(made["id"]).get()) == made
