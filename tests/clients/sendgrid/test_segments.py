"""The published `sendgrid` library keeps segments, whose contacts a condition selects."""

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from python_http_client.exceptions import BadRequestsError, NotFoundError
from sendgrid import SendGridAPIClient

from mailqueue.api.compat.sendgrid.marketing import segments as endpoints
from tests.clients.resend.people import empty
from tests.clients.serving import Served
from tests.rows import each_row

ANN, BOB = "ann@example.org", "bob@example.org"
PRO, FREE = '$.attributes.plan == "pro"', '$.attributes.plan == "free"'


@pytest.fixture
def marketing(site: Served) -> Any:
    empty(site)
    return of(site, site.keys.live)


def of(site: Served, key: str) -> Any:
    return SendGridAPIClient(key, host=site.url).client.marketing


def segments_of(marketing: Any) -> Any:
    return marketing.segments._("2.0")


def read(response: Any) -> Any:
    return json.loads(response.body)


def test_segments_are_added_counted_changed_and_removed(site: Served, marketing: Any) -> None:
    plans = {ANN: "pro", BOB: "free", "carl@example.org": "free"}
    contacts = [{"email": each, "custom_fields": {"plan": plan}} for each, plan in plans.items()]
    marketing.contacts.put(request_body={"contacts": contacts})
    marketing.lists.post(request_body={"name": "No segment"})
    segments = segments_of(marketing)
    answer = segments.post(request_body={"name": "Pros & more", "query_dsl": PRO})
    made = read(answer)
    one = segments._(made["id"])
    other = read(segments.post(request_body={"name": "Other", "query_dsl": FREE}))

    assert (answer.status_code, made["name"], made["query_dsl"]) == (201, "Pros & more", PRO)
    assert (made["contacts_count"], made["status"]) == (1, {"query_validation": "VALID"})
    assert [each["email"] for each in made["contacts_sample"]] == [ANN]
    listed = read(segments.get())["results"]
    assert [each["id"] for each in listed] == [other["id"], made["id"]]
    assert "query_dsl" not in listed[0]
    assert read(one.get())["contacts_sample"] == []
    assert read(one.get(query_params={"contacts_sample": "true"})) == made
    chosen = {"ids": made["id"]}
    assert [each["id"] for each in read(segments.get(query_params=chosen))["results"]] == [
        made["id"]
    ]
    assert len(read(segments.get(query_params={"page_size": 1}))["results"]) == 1
    parents = {"parent_list_ids": str(uuid4())}
    assert read(segments.get(query_params=parents))["results"] == []
    changed = read(one.patch(request_body={"query_dsl": FREE}))
    assert (changed["name"], changed["contacts_count"]) == ("Pros & more", 2)
    renamed = read(one.patch(request_body={"name": "Free"}))
    assert (renamed["name"], renamed["query_dsl"]) == ("Free", FREE)
    strange = segments_of(of(site, site.keys.other))
    for key in (site.keys.other, site.keys.test):
        hidden = segments_of(of(site, key))._(made["id"])
        for call, given in (
            (hidden.get, {}),
            (hidden.delete, {}),
            (hidden.patch, {"request_body": {"name": "a"}}),
        ):
            with pytest.raises(NotFoundError):
                call(**given)
    assert read(strange.get())["results"] == []
    assert one.delete().status_code == 202
    with pytest.raises(NotFoundError):
        one.get()
    assert read(marketing.contacts.count.get())["contact_count"] == 3, "its contacts stay"


def test_contacts_that_take_too_long_to_count_are_not_counted(
    site: Served, marketing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    read(marketing.lists.post(request_body={"name": "News"}))
    site.rows(
        "INSERT INTO mailqueue.contacts (project_id, email, email_key, attributes)"
        ' SELECT l.project_id, e.email, e.email, \'{"plan": "pro"}\''
        " FROM mailqueue.contact_lists AS l,"
        " LATERAL (SELECT n || '@example.org' AS email FROM generate_series(1, 5000) AS n) AS e"
        " RETURNING 1"
    )
    monkeypatch.setattr(endpoints, "LONGEST_READING", timedelta(milliseconds=1))
    answer = segments_of(marketing).post(request_body={"name": "Pros", "query_dsl": PRO})
    made = read(answer)
    (listed,) = read(segments_of(marketing).get())["results"]

    assert (answer.status_code, made["query_dsl"]) == (201, PRO)
    for one in (made, listed):
        assert (one["contacts_count"], one["status"]) == (0, {"query_validation": "PENDING"})
    monkeypatch.undo()
    (listed,) = read(segments_of(marketing).get())["results"]
    assert (listed["contacts_count"], listed["status"]) == (5000, {"query_validation": "VALID"})


def test_a_list_without_a_condition_is_no_segment(marketing: Any) -> None:
    news = read(marketing.lists.post(request_body={"name": "News"}))["id"]
    one = segments_of(marketing)._(news)

    for call in (one.get, one.delete, lambda: one.patch(request_body={"query_dsl": PRO})):
        with pytest.raises(NotFoundError):
            call()


@each_row(
    "body, field",
    [
        ({"name": "A"}, "query_dsl"),
        ({"query_dsl": PRO}, "name"),
        ({"name": "A", "query_dsl": ""}, "query_dsl"),
        ({"name": "A", "query_dsl": "SELECT contact_id FROM contact_data"}, "query_dsl"),
        ({"name": "A", "query_dsl": "x" * 10_001}, "query_dsl"),
        ({"name": "A", "query_dsl": "\x00"}, "query_dsl"),
        ({"name": "x" * 101, "query_dsl": PRO}, "name"),
        ({"name": "Taken", "query_dsl": PRO}, "name"),
        ({"name": "A", "query_dsl": PRO, "parent_list_ids": [str(uuid4())]}, "parent_list_ids"),
        ({"name": "A", "query_dsl": PRO, "size": 7}, "size"),
    ],
)
def test_a_faulty_segment_is_named_and_not_added(
    marketing: Any, body: dict[str, Any], field: str
) -> None:
    segments = segments_of(marketing)
    if not read(segments.get())["results"]:
        segments.post(request_body={"name": "Taken", "query_dsl": PRO})
    with pytest.raises(BadRequestsError) as caught:
        segments.post(request_body=body)

    assert caught.value.to_dict["errors"][0]["field"] == field
    assert [one["name"] for one in read(segments.get())["results"]] == ["Taken"]
