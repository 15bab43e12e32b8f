"""Events and event rules over HTTP."""

from typing import Any
from uuid import uuid4

import pytest

from mailqueue.db.pool import connect
from mailqueue.projects.keys.manage import issue_key
from mailqueue.projects.model import Scope
from tests.api.support.calling import Calling, error_of
from tests.inbox import events
from tests.rows import each_row

pytestmark = pytest.mark.anyio

RULES = "/v1/event-rules"
RULE: dict[str, Any] = {
    "name": "placed",
    "event_type": "OrderPlaced",
    "template": "welcome",
    "recipient": "$.customer.email",
    "variables": {"name": "$.customer.name"},
    "key": "$.orderId",
    "is_enabled": True,
}


@pytest.fixture
async def api(api: Calling) -> Calling:
    async with connect(api.database) as conn:
        await events.project_with_template(conn)
    return api


def event(**given: object) -> dict[str, Any]:
    return {"message_id": str(uuid4()), "type": "OrderPlaced", "payload": events.ORDER} | given


async def test_a_rule_is_added_tried_enabled_and_acts_once(api: Calling) -> None:
    added = await api.post(RULES, RULE | {"is_enabled": False})
    assert added.status_code == 201, added.text
    assert added.json()["version"] == 1
    assert (await api.post(RULES, RULE)).status_code == 409

    tried = (await api.post(f"{RULES}/placed/try", {"payload": events.ORDER})).json()
    assert (tried["status"], tried["result"], tried["key"]) == ("handled", "mail", "81")
    assert tried["email"]["recipient"] == "ann@example.com"
    assert tried["email"]["priority"] == "normal"
    ignored = (await api.post("/v1/events", event())).json()
    assert (ignored["status"], ignored["actions"]) == ("ignored", [])

    enabled = await api.put(f"{RULES}/placed", {"is_enabled": True})
    assert (enabled.status_code, enabled.json()["version"]) == (200, 2)
    told = event()
    first, again = [(await api.post("/v1/events", told)).json() for _ in range(2)]
    assert (first["status"], first["is_duplicate"], len(first["email_ids"])) == (
        "handled",
        False,
        1,
    )
    assert again == first | {"is_duplicate": True, "receive_count": 2}
    mail = (await api.get(f"/v1/emails/{first['email_ids'][0]}")).json()
    assert mail["custom_data"]["message_id"] == told["message_id"]

    listed = (await api.get(RULES)).json()["data"]
    assert [one["name"] for one in listed] == ["placed"]
    assert (await api.delete(f"{RULES}/placed")).status_code == 204
    for answer in (
        await api.get(f"{RULES}/placed"),
        await api.put(f"{RULES}/placed", {"is_enabled": True}),
        await api.delete(f"{RULES}/placed"),
        await api.post(f"{RULES}/placed/try", {"payload": {}}),
    ):
        assert answer.status_code == 404


@each_row(
    "given, field",
    [
        ({"condition": '$.a like_regex "x"'}, "condition"),
        ({"name": "Placed!"}, "name"),
        ({"template": None}, "template"),
        ({"variables": {"a": "$.**"}}, "variables"),
        ({"priority": "urgent"}, "priority"),
    ],
)
async def test_a_faulty_rule_is_refused_by_field(
    api: Calling, given: dict[str, Any], field: str
) -> None:
    answer = await api.post(RULES, RULE | given)

    assert answer.status_code == 422, answer.text
    assert error_of(answer)["field"] == field


async def test_an_event_that_cannot_be_read_is_refused_and_not_kept(api: Calling) -> None:
    told = event(payload={"a": "x" * 300_000})

    refused = await api.post("/v1/events", told)

    assert (refused.status_code, error_of(refused)["field"]) == (422, "payload")
    assert (await api.get("/v1/events")).json()["data"] == []
    mended = (await api.post("/v1/events", told | {"payload": {}})).json()
    assert (mended["status"], mended["is_duplicate"]) == ("ignored", False)


async def test_a_rule_that_fails_is_in_the_answer_and_is_replayed(api: Calling) -> None:
    await api.post(RULES, RULE | {"template": "missing"})
    told = event()
    failed = (await api.post("/v1/events", told)).json()
    assert (failed["status"], failed["actions"][0]["reason"]) == (
        "failed",
        'template: there is no template "missing"',
    )
    assert (await api.post("/v1/events/replay", {})).status_code == 422
    await api.put(f"{RULES}/placed", {"template": "welcome"})

    counted = (await api.post("/v1/events/replay", {"status": "failed", "dry_run": True})).json()
    done = (await api.post("/v1/events/replay", {"message_ids": [told["message_id"]]})).json()
    again = (await api.post("/v1/events/replay", {"type": "OrderPlaced"})).json()

    assert (counted["is_dry_run"], counted["emails"], counted["next_cursor"]) == (True, 1, None)
    assert (done["is_dry_run"], done["emails"], again["emails"], again["unchanged"]) == (
        False,
        1,
        0,
        1,
    )
    [shown] = (await api.get(f"/v1/events/{told['message_id']}")).json()["data"]
    assert (shown["status"], shown["payload"]) == ("handled", events.ORDER)
    assert [action["result"] for action in shown["actions"]] == ["mail"]


async def test_events_are_listed_page_by_page_and_filtered(api: Calling) -> None:
    for n in range(5):
        await api.post("/v1/events", event(type=f"T{n % 2}"))

    first = (await api.get("/v1/events?limit=3")).json()
    rest = (await api.get(f"/v1/events?limit=3&cursor={first['next_cursor']}")).json()

    assert [one["type"] for one in first["data"] + rest["data"]] == ["T0", "T1", "T0", "T1", "T0"]
    assert rest["next_cursor"] is None
    assert len((await api.get("/v1/events?type=T1&status=ignored")).json()["data"]) == 2
    assert (await api.get(f"/v1/events/{uuid4()}")).status_code == 404


async def test_a_full_project_answers_when_to_come_again(api: Calling) -> None:
    async with connect(api.database) as conn:
        await conn.execute("UPDATE mailqueue.projects SET max_events = 0")

    answer = await api.post("/v1/events", event())

    assert error_of(answer)["name"] == "quota_exceeded", answer.text
    assert (await api.get("/v1/events")).json()["data"] == []


async def test_scopes_and_test_keys(api: Calling) -> None:
    async with connect(api.database) as conn:
        reads = await issue_key(conn, "default", "r", is_test=False, scopes=[Scope.EMAIL_READ])
        tests = await issue_key(conn, "default", "t", is_test=True)
    live = await api.post(RULES, RULE)
    told = event()
    await api.post("/v1/events", told)
    reader, tester = reads.key.reveal(), tests.key.reveal()

    assert (await api.get("/v1/events", reader)).status_code == 200
    assert (await api.post("/v1/events", event(), key=reader)).status_code == 403
    assert (await api.get(RULES, reader)).status_code == 403
    assert live.status_code == 201
    assert (await api.get("/v1/events", tester)).json()["data"] == []
    assert (await api.get(RULES, tester)).status_code == 200
    assert (await api.put(f"{RULES}/placed", {"is_enabled": False}, key=tester)).status_code == 403
    tested = (await api.post("/v1/events", told, key=tester)).json()
    assert (tested["status"], tested["is_duplicate"]) == ("handled", False)
    [mail] = (await api.get(f"/v1/events/{told['message_id']}", tester)).json()["data"]
    assert mail["is_test"]
