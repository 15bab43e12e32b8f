"""What is invalid in events and automations of Resend's API is named, and adds nothing."""

from typing import Any
from uuid import UUID

import pytest
import requests

from tests.clients.resend.people import ANN
from tests.clients.resend.test_automations import START, WAIT, linked, mail
from tests.clients.serving import Served

NO_ID = str(UUID(int=7))


@pytest.fixture(scope="module", autouse=True)
def furnished(site: Served) -> None:
    for slug in ("welcome", "tips"):
        site.add_template(slug, subject=slug, html="<p>{{ plan }}</p>")


CANNOT: list[tuple[dict[str, Any], str]] = [
    ({"name": ""}, "name"),
    ({"name": 7}, "name"),
    ({"status": "on"}, "status"),
    ({"steps": []}, "steps"),
    ({"steps": [START], "connections": []}, "send_email"),
    ({"steps": [mail("welcome")], "connections": []}, "trigger"),
    (
        {
            "steps": [START, {**START, "key": "b"}, mail("tips")],
            "connections": linked("start", "b", "tips"),
        },
        "steps",
    ),
    ({"steps": [START, {"key": "x", "type": "condition", "config": {}}]}, "steps.1.type"),
    ({"steps": [START, {**mail("welcome"), "key": "Welcome!"}]}, "steps.1.key"),
    ({"steps": [START, START]}, "steps.1.key"),
    ({"connections": []}, "connections"),
    ({"connections": linked("start", "welcome", "start")}, "connections"),
    ({"connections": linked("start", "welcome", "welcome")}, "connections"),
    ({"connections": linked("start", "nothing")}, "connections.0.to"),
    ({"connections": [*linked("start", "tips"), *linked("start", "wait")]}, "connections.1.from"),
    ({"connections": [{"from": "start", "to": "tips", "type": "timeout"}]}, "connections.0.type"),
    ({"connections": [{"from": 1, "to": 2}]}, "connections.0.from"),
    ({"more": 1}, "more"),
]
CONFIGS: list[tuple[str, dict[str, Any], str]] = [
    ("trigger", {}, "event_name"),
    ("trigger", {"event_name": "a", "filter": 1}, "filter"),
    ("trigger", {"event_name": "a" * 201}, "event_name"),
    ("delay", {"duration": "soon"}, "duration"),
    ("delay", {"duration": "31 days"}, "duration"),
    ("delay", {"duration": "0 minutes"}, "duration"),
    ("delay", {"duration": 7}, "duration"),
    ("delay", {"seconds": 7}, "seconds"),
    ("send_email", {}, "template"),
    ("send_email", {"template": "welcome"}, "template"),
    ("send_email", {"template": {"id": NO_ID}}, "template.id"),
    ("send_email", {"template": {"id": "welcome"}, "from": "a@example.com"}, "from"),
    ("send_email", {"template": {"id": "welcome", "x": 1}}, "template.x"),
    ("send_email", {"template": {"id": "welcome", "variables": [1]}}, "variables"),
    ("send_email", {"template": {"id": "welcome", "variables": {"a": 1}}}, "variables.a"),
    ("send_email", {"template": {"id": "welcome", "variables": {"a": "$.x"}}}, "variables.a"),
    (
        "send_email",
        {"template": {"id": "welcome", "variables": {"a": {"var": "event.x ? (@ > 1)"}}}},
        "variables.a",
    ),
    (
        "send_email",
        {"template": {"id": "welcome", "variables": {"a": {"var": "contact.first_name"}}}},
        "variables.a",
    ),
]


def refused(site: Served, path: str, body: Any, named: str) -> None:
    headers = {"Authorization": f"Bearer {site.keys.live}"}
    answer = requests.post(f"{site.url}{path}", json=body, headers=headers, timeout=30)

    assert answer.status_code == 422, answer.text
    assert named in answer.json()["message"], answer.text
    for table in ("project_rules", "event_rules", "sequences", "inbox_state"):
        assert site.rows(f"SELECT 1 FROM mailqueue.{table} WHERE project_id IS NOT NULL") == []


@pytest.mark.parametrize(("fields", "named"), CANNOT)
def test_what_is_invalid_is_named_and_adds_nothing(
    site: Served, fields: dict[str, Any], named: str
) -> None:
    given = {
        "name": "Welcome",
        "steps": [START, mail("welcome"), WAIT, mail("tips")],
        "connections": linked("start", "welcome", "wait", "tips"),
    }
    refused(site, "/automations", given | fields, named)


@pytest.mark.parametrize(("kind", "config", "named"), CONFIGS)
def test_a_setting_of_a_step_that_is_invalid_is_named(
    site: Served, kind: str, config: dict[str, Any], named: str
) -> None:
    steps = [
        {**one, "config": config} if one["type"] == kind else one
        for one in (START, WAIT, mail("welcome"))
    ]
    body = {"name": "x", "steps": steps, "connections": linked("start", "wait", "welcome")}
    refused(site, "/automations", body, named)


@pytest.mark.parametrize(
    ("path", "body", "named"),
    [
        ("/events", {"name": "resend:mine"}, "name"),
        ("/events", {"name": ""}, "name"),
        ("/events", {"name": "a/b"}, "name"),
        ("/events", {"name": "x" * 201}, "name"),
        ("/events", {"name": "x", "schema": {"a": "text"}}, "schema"),
        ("/events", {"name": "x", "schema": {f"a{n}": "string" for n in range(101)}}, "schema"),
        ("/events/send", {"event": "x"}, "email"),
        ("/events/send", {"event": "x", "email": ANN, "contact_id": NO_ID}, "email"),
        ("/events/send", {"event": "x", "email": "nobody"}, "email"),
        ("/events/send", {"event": "x", "contact_id": "nobody"}, "contact_id"),
        ("/events/send", {"event": "x", "email": ANN, "payload": [1]}, "payload"),
        ("/events/send", {"event": "x", "email": ANN, "payload": {"a": "\0"}}, "payload"),
        ("/events/send", {"event": "resend:x", "email": ANN}, "event"),
    ],
)
def test_an_event_that_is_invalid_is_named(site: Served, path: str, body: Any, named: str) -> None:
    refused(site, path, body, named)
