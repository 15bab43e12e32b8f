"""The published Python library of Resend sends events, which start automations."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import uuid4

import pytest
import requests
import resend
from resend.exceptions import ResendError

from mailqueue.db.pool import connect
from mailqueue.projects.model import Scope
from tests.clients.resend.people import ANN, added, empty
from tests.clients.serving import Served
from tests.sequences import running

pytestmark = pytest.mark.usefixtures("resend_here")
Automations, Events = resend.Automations, resend.Events
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


def posted(site: Served, key: str, *, of: str | None = None, event: str = "user.created") -> int:
    """Send an event by an idempotency key and an API key; return the status."""
    headers = {"Authorization": f"Bearer {of or site.keys.live}", "Idempotency-Key": key}
    body = {"event": event, "email": ANN}
    found = requests.post(f"{site.url}/events/send", json=body, headers=headers, timeout=30)
    return found.status_code


def test_a_repeated_key_delivers_an_event_once(site: Served) -> None:
    key = uuid4().hex
    assert [posted(site, key) for _ in range(2)] == [202, 202]

    assert len(site.rows("SELECT 1 FROM mailqueue.inbox_state")) == 1


def test_the_idempotency_key_of_a_test_event_takes_no_live_event_away(site: Served) -> None:
    key = uuid4().hex
    assert posted(site, key, of=site.keys.test) == 202
    assert posted(site, key) == 202

    found = site.rows("SELECT is_test FROM mailqueue.inbox_state ORDER BY 1")
    assert found == [(False,), (True,)]


def test_an_idempotency_key_of_another_event_is_refused_and_loses_nothing(site: Served) -> None:
    key = uuid4().hex
    assert posted(site, key) == 202
    assert posted(site, key, event="user.removed") == 409
    assert [posted(site, "") for _ in range(2)] == [400, 400]

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
