"""The published Python library of Resend sends events, which start automations."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest
import requests
import resend
from resend.exceptions import ResendError

from mailqueue.db.pool import connect
from mailqueue.tenants.model import Scope
from tests.clients.resend.people import ANN, added, empty
from tests.clients.serving import Served
from tests.sequences import running

pytestmark = pytest.mark.usefixtures("resend_here")
Automations, Events = resend.Automations, resend.Events
NO_ID = str(UUID(int=7))
START = {"key": "start", "type": "trigger", "config": {"event_name": "user.created"}}
WAIT = {"key": "wait", "type": "delay", "config": {"duration": "1 day"}}


@pytest.fixture(scope="module", autouse=True)
def furnished(site: Served) -> None:
    for slug in ("welcome", "tips"):
        site.add_template(slug, subject=slug, html="<p>{{ plan }} {{ kind }}</p>")


@pytest.fixture(autouse=True)
def emptied(site: Served) -> None:
    empty(site)
    for table in ("project_rules", "event_rules", "sequences", "inbox_state", "email_queue"):
        site.rows(f"DELETE FROM mailqueue.{table} RETURNING 1")


def mail(key: str, **variables: Any) -> dict[str, Any]:
    template = {"id": key, "variables": variables} if variables else {"id": key}
    return {"key": key, "type": "send_email", "config": {"template": template}}


def linked(*keys: str) -> list[dict[str, str]]:
    return [{"from": one, "to": other} for one, other in pairwise(keys)]


def series(**fields: Any) -> str:
    """Add an automation with two mails, a day apart, and return its id."""
    welcome = mail("welcome", plan={"var": "event.plan"}, kind="new")
    given: Any = {
        "name": "Welcome",
        "status": "enabled",
        "steps": [START, welcome, WAIT, mail("tips")],
        "connections": linked("start", "welcome", "wait", "tips"),
    }
    made: Any = Automations.create(given | fields)
    assert made["object"] == "automation"
    return str(made["id"])


def created(**fields: Any) -> Any:
    given: Any = {"event": "user.created", "email": ANN, "payload": {"plan": "pro"}}
    return Events.send(given | fields)


def runs(automation: str, **query: Any) -> list[dict[str, Any]]:
    found: Any = Automations.Runs.list(automation, query)  # type: ignore[arg-type]
    rows: list[dict[str, Any]] = found["data"]
    return rows


def go_on(site: Served, *, days: int = 0) -> None:
    """Do the steps that are due in some days."""

    async def turn() -> None:
        async with connect(site.database) as conn:
            await running.turn(conn, datetime.now(UTC) + timedelta(days=days, minutes=1))

    site.run(turn())


def test_an_event_starts_mails_with_its_fields(site: Served) -> None:
    made = series()
    sent = created()
    (before,) = runs(made)
    go_on(site)
    shown: Any = Automations.Runs.get(made, before["id"])
    go_on(site, days=1)
    (after,) = runs(made)

    assert (sent["object"], sent["event"]) == ("event", "user.created")
    assert (before["status"], before["completed_at"]) == ("running", None)
    assert [(one["key"], one["status"]) for one in shown["steps"]] == [
        ("start", "completed"),
        ("welcome", "completed"),
        ("wait", "running"),
        ("tips", "running"),
    ]
    welcome = shown["steps"][1]["output"]["email_id"]
    assert "pro new" in str(resend.Emails.get(welcome)["html"])
    assert (after["id"], after["status"]) == (before["id"], "completed")
    assert after["completed_at"] is not None
    mails = site.rows("SELECT recipient_email FROM mailqueue.email_queue")
    assert mails == [(ANN,), (ANN,)]


def test_a_contact_is_named_by_its_id_as_well() -> None:
    made = series()
    created(email=None, contact_id=added())

    assert len(runs(made)) == 1


def test_a_disabled_automation_begins_nothing_until_it_is_enabled() -> None:
    made = series(status="disabled")
    created()
    before = runs(made)
    Automations.update({"automation_id": made, "status": "enabled"})
    created()

    assert before == []
    assert len(runs(made)) == 1


def test_stopping_disables_and_cancels_what_is_on_its_way(site: Served) -> None:
    made = series()
    created()
    created(email="bob@example.org")
    stopped: Any = Automations.stop(made)
    created(email="carl@example.org")
    go_on(site, days=2)

    assert (stopped["id"], stopped["status"]) == (made, "disabled")
    assert [one["status"] for one in runs(made)] == ["cancelled"] * 2
    assert runs(made, status="running,completed") == []
    assert site.rows("SELECT 1 FROM mailqueue.email_queue") == []


def test_automations_are_shown_changed_copied_listed_and_removed(site: Served) -> None:
    made = series()
    shown: Any = Automations.get(made)
    steps = [START, mail("tips")]
    links = linked("start", "tips")
    given: Any = {"automation_id": made, "name": "Short", "steps": steps, "connections": links}
    Automations.update(given)
    changed: Any = Automations.get(made)
    copy = str(Automations.duplicate(made)["id"])
    page: Any = Automations.list({"limit": 1})
    rest: Any = Automations.list({"limit": 1, "after": copy})

    assert (shown["object"], shown["name"], shown["status"]) == (
        "automation",
        "Welcome",
        "enabled",
    )
    assert [one["key"] for one in shown["steps"]] == ["start", "welcome", "wait", "tips"]
    assert shown["connections"][0] == {"from": "start", "to": "welcome", "type": "default"}
    assert (changed["name"], len(changed["steps"])) == ("Short", 2)
    assert (page["data"][0]["id"], page["data"][0]["name"]) == (copy, "Short (copy)")
    assert page["data"][0]["status"] == "disabled"
    assert ([one["id"] for one in rest["data"]], rest["has_more"]) == ([made], False)
    assert [one["id"] for one in Automations.list({"status": "enabled"})["data"]] == [made]
    for one in (made, copy):
        assert Automations.remove(one)["deleted"] is True
    with pytest.raises(ResendError, match="Automation not found"):
        Automations.get(made)
    for table in ("project_rules", "event_rules"):
        assert site.rows(f"SELECT 1 FROM mailqueue.{table}") == []


def test_runs_come_in_pages() -> None:
    made = series()
    for number in range(5):
        created(email=f"a{number}@example.org")
    every = [one["id"] for one in runs(made)]
    first: Any = Automations.Runs.list(made, {"limit": 2})

    assert len(every) == 5
    assert ([one["id"] for one in first["data"]], first["has_more"]) == (every[:2], True)
    assert [one["id"] for one in runs(made, limit=3, after=every[1])] == every[2:]


def test_events_are_defined_shown_changed_listed_and_removed() -> None:
    schema: Any = {"plan": "string", "seats": "number", "is_new": "boolean", "since": "date"}
    made: Any = Events.create({"name": "user.created", "schema": schema})
    other: Any = Events.create({"name": "a b&c?"})
    shown: Any = Events.get("user.created")
    page: Any = Events.list({"limit": 1})
    Events.update({"identifier": "a b&c?", "schema": {"n": "number"}})

    assert (shown["object"], shown["id"], shown["schema"]) == ("event", made["id"], schema)
    assert shown["updated_at"] is None
    assert Events.get("a b&c?")["updated_at"] is not None
    assert ([one["id"] for one in page["data"]], page["has_more"]) == ([other["id"]], True)
    assert Events.get(other["id"])["schema"] == {"n": "number"}
    with pytest.raises(ResendError, match="already exists"):
        Events.create({"name": "user.created"})
    wrong: list[tuple[str, Any]] = [("plan", 7), ("seats", "7"), ("seats", True), ("is_new", 1)]
    wrong += [("since", "yesterday"), ("since", 20260101), ("since", None)]
    for field, value in wrong:
        with pytest.raises(ResendError, match=f"payload.{field}"):
            created(payload={field: value})
    created(payload={"plan": "x", "seats": 7.5, "is_new": False, "since": "2026-01-01", "z": []})
    assert Events.remove("user.created")["deleted"] is True
    with pytest.raises(ResendError, match="Event not found"):
        Events.get(made["id"])


def test_a_repeated_key_delivers_an_event_once(site: Served) -> None:
    headers = {"Authorization": f"Bearer {site.keys.live}", "Idempotency-Key": "one"}
    body = {"event": "user.created", "email": ANN}
    for _ in range(2):
        answer = requests.post(f"{site.url}/events/send", json=body, headers=headers, timeout=30)
        assert answer.status_code == 202, answer.text

    assert len(site.rows("SELECT 1 FROM mailqueue.inbox_state")) == 1


def test_a_key_sees_and_changes_its_project_alone(
    site: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = series()
    created()
    contact = resend.Contacts.get(email=ANN)["id"]
    (run,) = runs(made)
    event: Any = Events.create({"name": "user.created"})
    monkeypatch.setattr(resend, "api_key", site.keys.other)
    calls: list[Any] = [
        lambda: Automations.get(made),
        lambda: Automations.update({"automation_id": made, "name": "Mine"}),
        lambda: Automations.stop(made),
        lambda: Automations.duplicate(made),
        lambda: Automations.remove(made),
        lambda: runs(made),
        lambda: Automations.Runs.get(made, run["id"]),
        lambda: Events.get(event["id"]),
        lambda: Events.get("user.created"),
        lambda: Events.update({"identifier": "user.created", "schema": None}),
        lambda: Events.remove("user.created"),
        lambda: created(email=None, contact_id=contact),
    ]
    for call in calls:
        with pytest.raises(ResendError, match="not found") as caught:
            call()
        assert caught.value.code == 404
    with pytest.raises(ResendError, match=r"config\.template\.id"):
        series()
    assert Automations.list()["data"] == []
    assert Events.list()["data"] == []
    monkeypatch.setattr(resend, "api_key", site.key_with(Scope.CONTACTS_WRITE))
    for call in calls:
        with pytest.raises(ResendError, match="lacks"):
            call()


def test_a_run_of_another_automation_is_not_found() -> None:
    made, other = series(), series(name="Other", status="disabled")
    created()
    (run,) = runs(made)

    with pytest.raises(ResendError, match="Run not found"):
        Automations.Runs.get(other, run["id"])


def test_a_test_key_sees_runs_of_test_events_alone(
    site: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = series()
    created()
    monkeypatch.setattr(resend, "api_key", site.keys.test)

    assert runs(made) == []
    with pytest.raises(ResendError, match="lacks"):
        Automations.stop(made)


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
