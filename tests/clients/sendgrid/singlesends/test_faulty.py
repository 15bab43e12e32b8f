"""The published `sendgrid` library gets the field that is wrong in a single send."""

from typing import Any
from uuid import uuid4

from tests.clients.sendgrid.singlesends.test_single_sends import (
    added,
    api,
    listed,
    read,
    refused,
    whole,
)
from tests.clients.serving import Served
from tests.rows import each_row

__all__ = ["api"]


@each_row(
    "fields, field",
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": None}, "name"),
        ({"categories": ["a"] * 11}, "categories"),
        ({"categories": [""]}, "categories.0"),
        ({"send_at": "soon"}, "send_at"),
        ({"send_at": "2035-01-01T00:00:00"}, "send_at"),
        ({"send_at": "9999-12-31T23:59:59-12:00"}, "send_at"),
        ({"send_to": {"list_ids": ["x"]}}, "send_to.list_ids.0"),
        ({"send_to": {"list_ids": [str(uuid4())] * 51}}, "send_to.list_ids"),
        ({"send_to": {"all": True}}, "send_to.all"),
        ({"send_to": {"everyone": True}}, "send_to.everyone"),
        ({"email_config": {"subject": "x" * 999}}, "email_config.subject"),
        ({"email_config": {"html_content": "\x00"}}, "email_config.html_content"),
        ({"email_config": {"sender_id": "7"}}, "email_config.sender_id"),
        ({"email_config": {"sender_id": -1}}, "email_config.sender_id"),
        ({"email_config": {"suppression_group_id": 2**31}}, "email_config.suppression_group_id"),
        ({"email_config": {"design_id": "d"}}, "email_config.design_id"),
        ({"email_config": {"ip_pool": "p"}}, "email_config.ip_pool"),
        (
            {"email_config": {"custom_unsubscribe_url": "https://x.example/"}},
            "email_config.custom_unsubscribe_url",
        ),
        ({"email_config": {"editor": "word"}}, "email_config.editor"),
        ({"abtest": {}}, "abtest"),
    ],
)
def test_a_faulty_field_is_named_and_nothing_is_added(
    api: Any, fields: dict[str, Any], field: str
) -> None:
    assert refused(api.marketing.singlesends.post, request_body={"name": "May"} | fields) == field
    assert read(api.marketing.singlesends.get())["result"] == []


@each_row(
    "mail, field",
    [
        ({"subject": ""}, "email_config.subject"),
        ({"html_content": ""}, "email_config.html_content"),
        ({"html_content": "{{#each}}"}, "email_config.html_content"),
        ({"html_content": "{{weblink}}"}, "email_config.html_content"),
        ({"html_content": "{% if %}"}, "email_config.html_content"),
        ({"subject": "{{first_name"}, "email_config.subject"),
        ({"sender_id": None}, "email_config.sender_id"),
        ({"sender_id": 12}, "email_config.sender_id"),
        ({"suppression_group_id": None}, "email_config.suppression_group_id"),
        ({"suppression_group_id": 3}, "email_config.suppression_group_id"),
    ],
)
def test_what_cannot_be_sent_is_named_and_stays_a_draft(
    site: Served, api: Any, mail: dict[str, Any], field: str
) -> None:
    made = added(api, whole(api, listed(api, f"News {uuid4()}"), **mail))
    one = api.marketing.singlesends._(made["id"])

    assert refused(one.schedule.put, request_body={"send_at": "now"}) == field
    assert read(one.get())["status"] == "draft"
    assert site.rows("SELECT 1 FROM mailqueue.schedules") == []


def test_when_and_to_whom_are_judged_when_it_is_scheduled(site: Served, api: Any) -> None:
    news = listed(api)
    made = added(api, whole(api, news))
    one = api.marketing.singlesends._(made["id"])
    now: dict[str, Any] = {"request_body": {"send_at": "now"}}
    for at in ("2001-01-01T00:00:00Z", "soon", None, "9999-12-31T23:59:59Z"):
        assert str(refused(one.schedule.put, request_body={"send_at": at})).startswith("send_at")
    for to, field in (
        ({"list_ids": []}, "send_to"),
        ({"list_ids": [news, str(uuid4())]}, "send_to.list_ids"),
        ({"list_ids": [], "segment_ids": [news]}, "send_to.segment_ids"),
    ):
        one.patch(request_body={"send_to": to})
        assert refused(one.schedule.put, **now) == field
    grown = site.rows(
        "INSERT INTO mailqueue.contact_lists (project_id, name, condition, created_by)"
        " SELECT project_id, 'grown', '$.language == \"nb\"', 'tests'"
        " FROM mailqueue.contact_lists LIMIT 1 RETURNING id"
    )
    one.patch(request_body={"send_to": {"list_ids": [], "segment_ids": [str(grown[0][0])]}})
    assert one.schedule.put(**now).status_code == 201
