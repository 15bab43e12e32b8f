"""Timed events and the birthday rule over HTTP."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from mailqueue.db.pool import connect
from tests import make
from tests.api.support.calling import Calling
from tests.rows import each_row
from tests.timed_events import events

pytestmark = pytest.mark.anyio

PATH = "/v1/timed-events"
EVENT: dict[str, Any] = {
    "kind": "renewal",
    "local_at": "2050-05-31T09:00:00",
    "time_zone": "Europe/Berlin",
    "recipient": "ann@example.com",
    "template": "welcome",
    "payload": {"plan": "Team"},
    "idempotency_key": "one",
}


@pytest.fixture
async def api(api: Calling) -> Calling:
    async with connect(api.database) as conn:
        await events.template(conn)
    return api


async def test_an_event_is_put_once_changed_by_version_and_cancelled(api: Calling) -> None:
    added = await api.post(PATH, EVENT)
    assert added.status_code == 201, added.text
    made = added.json()
    assert made["is_new"] is True
    event = made["event"]
    assert (event["status"], event["version"], event["retry_count"]) == ("PENDING", 1, 0)
    assert event["at"].startswith("2050-05-31T07:00:00")
    assert (event["local_at"], event["time_zone"]) == (EVENT["local_at"], "Europe/Berlin")
    again = (await api.post(PATH, EVENT | {"kind": "other"})).json()
    assert again == {"event": event, "is_new": False}

    one = f"{PATH}/{event['id']}"
    change = {"version": 1, "local_at": "2050-06-01T09:00:00"}
    changed = await api.http.patch(one, json=change, headers={"X-API-Key": api.key})
    assert changed.json()["local_at"] == change["local_at"], changed.text
    assert changed.json()["version"] == 2
    stale = await api.http.patch(one, json=change, headers={"X-API-Key": api.key})
    assert stale.status_code == 409

    assert (await api.post(f"{one}/cancel", {"version": 1})).status_code == 409
    cancelled = (await api.post(f"{one}/cancel", {"version": 2})).json()
    assert cancelled["status"] == "FAILED"
    assert cancelled["failure_reason"].startswith("cancelled by ")
    listed = (await api.get(f"{PATH}?status=FAILED&kind=renewal")).json()["data"]
    assert [found["id"] for found in listed] == [event["id"]]
    assert (await api.get(f"{PATH}?status=PENDING")).json()["data"] == []
    assert (await api.get(f"{PATH}/{uuid4()}")).status_code == 404


@each_row(
    "given, field",
    [
        ({"time_zone": "Mars/Base"}, "time_zone"),
        ({"local_at": "2050-05-31T09:00:00Z"}, "local_at"),
        ({"local_at": "tomorrow"}, "local_at"),
        ({"local_at": None, "time_zone": None, "at": "2050-05-31T09:00:00"}, "at"),
        ({"local_at": None, "time_zone": None, "at": "2001-05-31T09:00:00Z"}, "at"),
        ({"template": "none"}, "template"),
        ({"webhook_id": str(uuid4())}, "webhook_id"),
        ({"contact_id": str(uuid4())}, "contact_id"),
        ({"kind": "two words"}, "kind"),
        ({"payload": []}, "payload"),
    ],
)
async def test_what_cannot_be_is_refused_by_field(
    api: Calling, given: dict[str, Any], field: str
) -> None:
    answer = await api.post(PATH, EVENT | given)

    assert answer.status_code == 422, answer.text
    assert answer.json()["field"] == field


async def test_the_birthday_rule_is_set_shown_and_ended(api: Calling) -> None:
    assert (await api.get("/v1/birthdays")).status_code == 404
    rule = {"local_time": "08:30", "leap_day": "march_1", "template": "welcome"}
    made = await api.put("/v1/birthdays", rule)
    assert made.status_code == 200, made.text
    assert made.json()["is_planned"] is False
    async with connect(api.database) as conn:
        ann = await events.contact(conn, date_of_birth="1988-02-29")
        await events.planned(conn)
        assert len(await events.pending(conn, ann)) == 1
    shown = (await api.get("/v1/birthdays")).json()
    assert shown["is_planned"] is True
    assert {name: shown[name] for name in rule} == rule
    wrong = await api.put("/v1/birthdays", rule | {"local_time": "25:00"})
    assert (wrong.status_code, wrong.json()["field"]) == (422, "local_time")

    assert (await api.delete("/v1/birthdays")).status_code == 204
    assert (await api.delete("/v1/birthdays")).status_code == 404
    async with connect(api.database) as conn:
        await events.planned(conn)
        query = "SELECT count(*) FROM mailqueue.timed_events"
        assert await make.scalar(conn, query) == 0


async def test_a_move_from_auckland_to_honolulu_on_the_eve_and_back_is_one_mail(
    api: Calling,
) -> None:
    await api.put("/v1/birthdays", {"local_time": "09:00", "template": "welcome"})
    async with connect(api.database) as conn:
        await events.planned(conn)
        query = "SELECT (now() AT TIME ZONE 'Pacific/Auckland')::date + 1 - interval '28 years'"
        born = (await make.scalar(conn, query)).date().isoformat()
        ann = {"email": "ann@example.com", "date_of_birth": born, "time_zone": "Pacific/Auckland"}
        ann_id = UUID((await api.post("/v1/contacts", ann)).json()["id"])
        for zone in ("Pacific/Honolulu", "Pacific/Auckland"):
            await _moved(api, ann_id, zone)
            assert [each[1] for each in await events.pending(conn, ann_id)] == [zone]
        await events.make_due(conn)
        await events.fire(conn)
        for zone in ("Pacific/Honolulu", "Pacific/Auckland"):
            await _moved(api, ann_id, zone)
            assert [each[1] for each in await events.pending(conn, ann_id)] == [zone]
        await events.fire(conn)

        assert await events.mails(conn) == 1


async def _moved(api: Calling, contact: UUID, zone: str) -> None:
    """Change the time zone of a contact."""
    headers, given = {"X-API-Key": api.key}, {"time_zone": zone}
    changed = await api.http.patch(f"/v1/contacts/{contact}", json=given, headers=headers)
    assert (changed.status_code, changed.json().get("time_zone")) == (200, zone), changed.text
