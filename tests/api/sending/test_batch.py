"""One request for many recipients: each has its result, in order, and the batch can be shown."""

from typing import Any
from uuid import uuid4

import pytest

from mailqueue.db.pool import connect
from mailqueue.projects.keys.manage import issue_key
from tests import make
from tests.api.support.calling import Calling, error_of

pytestmark = pytest.mark.anyio
GONE = "INSERT INTO mailqueue.bounce_list (email, bounce_type) VALUES ('c@example.com', 'hard')"
NEWS = {"subject": "We moved", "html_body": "<p>Come</p>", "text_body": "Come"}


def to(*addresses: str, **more: Any) -> dict[str, Any]:
    return {**NEWS, "recipients": [{"email": address} for address in addresses], **more}


async def count(api: Calling, table: str) -> int:
    async with connect(api.database) as conn:
        found: int = await make.scalar(conn, f"SELECT count(*) FROM mailqueue.{table}")
        return found


async def test_each_recipient_has_an_answer_in_order(api: Calling) -> None:
    async with connect(api.database) as conn:
        await conn.execute(GONE)
    body = to("a@example.com", "not an address", "c@example.com", "d@example.com")
    body["recipients"][3] |= {"name": 'Dora "D" <x>', "custom_data": {"n": 4}, "tags": ["own"]}

    answer = await api.post("/v1/send/batch", body | {"tags": ["all"], "priority": "high"})

    assert answer.status_code == 202, answer.text
    found = answer.json()
    assert [(one["index"], one["email"], one["status"]) for one in found["results"]] == [
        (0, "a@example.com", "queued"),
        (1, "not an address", "rejected"),
        (2, "c@example.com", "suppressed"),
        (3, "d@example.com", "queued"),
    ]
    assert "not an address" in found["results"][1]["reason"]
    assert (found["accepted"], found["rejected"], found["suppressed"]) == (2, 1, 1)
    assert found["email_ids"] == [one["id"] for one in found["results"] if one["id"]]
    first = (await api.get(f"/v1/emails/{found['email_ids'][0]}")).json()
    last = (await api.get(f"/v1/emails/{found['email_ids'][-1]}")).json()
    assert (first["subject"], first["tags"], first["priority"]) == ("We moved", ["all"], "high")
    assert (last["recipient_name"], last["tags"]) == ('Dora "D" <x>', ["own"])
    assert last["custom_data"] == {"n": 4}


async def test_what_all_are_told_is_stored_once(api: Calling) -> None:
    answer = await api.post("/v1/send/batch", to(*(f"p{n}@example.com" for n in range(30))))

    assert answer.json()["accepted"] == 30
    assert await count(api, "email_contents") == 1
    assert await count(api, "email_queue") == 30


async def test_a_strict_batch_is_accepted_whole_or_not_at_all(api: Calling) -> None:
    bad = to("a@example.com", "b", "c@example.com", "d", mode="strict")

    refused = await api.post("/v1/send/batch", bad)
    good = await api.post("/v1/send/batch", to("a@example.com", mode="strict"))

    assert refused.status_code == 422
    faults = error_of(refused)["violations"]
    assert [fault["field"] for fault in faults] == ["recipients.1.email", "recipients.3.email"]
    assert (good.status_code, good.json()["accepted"]) == (202, 1)
    assert await count(api, "email_queue") == 1
    assert await count(api, "batches") == 1


async def test_what_is_wrong_for_all_refuses_the_call(api: Calling) -> None:
    faults: list[tuple[dict[str, Any], str]] = [
        ({"subject": ""}, "subject"),
        ({"html_body": None, "text_body": None}, "html_body"),
        ({"priority": "soon"}, "priority"),
        ({"smtp_config_id": "nowhere"}, "smtp_config_id"),
        ({"scheduled_at": "9999-12-31T00:00:00Z"}, "scheduled_at"),
        ({"recipients": []}, "recipients"),
        ({"recipients": [{"email": "a@example.com"}] * 10_001}, "recipients"),
        ({"recipients": [{"address": "a@example.com"}]}, "recipients"),
        ({"attachments": [{"id": "x"}]}, "attachments"),
        ({"cc": ["nobody"]}, "cc"),
        ({"bcc": [f"p{n}@example.com" for n in range(50)]}, "cc"),
        ({"mode": "maybe"}, "mode"),
    ]
    for change, field in faults:
        refused = await api.post("/v1/send/batch", to("a@example.com") | change)

        assert (refused.status_code, error_of(refused)["field"]) == (422, field), refused.text
        assert await count(api, "email_queue") == 0


async def test_cc_and_bcc_of_a_batch_are_accepted_with_a_warning(api: Calling) -> None:
    body = to("a@example.com", "b@example.com", cc="c@example.com", bcc=["d@example.com"])
    body["recipients"][1] |= {"name": "Bob", "custom_data": {"n": 2}}

    answer = await api.post("/v1/send/batch", body)
    plain = await api.post("/v1/send/batch", to("a@example.com"))

    assert answer.status_code == 202, answer.text
    found = answer.json()
    assert (found["accepted"], plain.json()["warnings"]) == (2, [])
    cc, bcc = found["warnings"]
    assert (cc[:32], bcc[:33]) == (
        "cc: each of the 2 emails also go",
        "bcc: each of the 2 emails also go",
    )
    for email, name in zip(found["email_ids"], (None, "Bob"), strict=True):
        shown = (await api.get(f"/v1/emails/{email}")).json()
        assert [(one["kind"], one["address"]) for one in shown["recipients"]] == [
            ("to", shown["recipient_email"]),
            ("cc", "c@example.com"),
            ("bcc", "d@example.com"),
        ]
        assert shown["recipient_name"] == name
    assert await count(api, "email_contents") == 2, "one for each batch"


async def test_a_batch_keeps_the_age_of_its_project_for_each_recipient(api: Calling) -> None:
    async with connect(api.database) as conn:
        await conn.execute("UPDATE mailqueue.projects SET max_age_hours_normal = 5")
    body = to("a@example.com", "b@example.com")
    body["recipients"][1]["tags"] = ["own"]

    await api.post("/v1/send/batch", body)

    async with connect(api.database) as conn:
        ages = "SELECT count(*) FROM mailqueue.email_queue WHERE expires_at - run_at = '5 h'"
        assert await make.scalar(conn, ages) == 2


async def test_a_batch_is_accepted_once_under_its_key(api: Calling) -> None:
    body = to("a@example.com", "b@example.com")

    first, again = [await api.post("/v1/send/batch", body, Idempotency_Key="b1") for _ in range(2)]

    assert first.json() == again.json()
    assert await count(api, "email_queue") == 2


async def test_a_batch_says_what_became_of_its_mails_and_they_are_listed(api: Calling) -> None:
    await api.post("/v1/send/batch", to("other@example.com"))
    sent = (await api.post("/v1/send/batch", to("a@example.com", "b", "c@example.com"))).json()
    await api.post(f"/v1/emails/{sent['email_ids'][0]}/cancel")

    found = (await api.get(f"/v1/batches/{sent['batch_id']}")).json()
    listed = (await api.get(f"/v1/emails?batch={sent['batch_id']}")).json()

    assert (found["recipients"], found["rejected"]) == (3, 1)
    assert found["counts"] == {"cancelled": 1, "pending": 1}
    assert found["created_by"] == "key tests"
    assert {one["id"] for one in listed["data"]} == set(sent["email_ids"])


async def test_a_batch_of_another_project_is_not_there(api: Calling) -> None:
    sent = (await api.post("/v1/send/batch", to("a@example.com"))).json()
    async with connect(api.database) as conn:
        await make.project(conn, "other")
        other = (await issue_key(conn, "other", "web", is_test=False)).key.reveal()

    for name, key in ((sent["batch_id"], other), (str(uuid4()), None), ("x", None)):
        assert (await api.get(f"/v1/batches/{name}", key=key)).status_code == 404
    listed = await api.get(f"/v1/emails?batch={sent['batch_id']}", key=other)
    assert listed.json() == {"data": [], "next_cursor": None}


async def test_a_test_keys_batch_goes_to_the_trap(api: Calling) -> None:
    async with connect(api.database) as conn:
        await make.sender_account(conn, name="pit", provider="trap")
        key = (await issue_key(conn, "default", "try", is_test=True)).key.reveal()

    named = await api.post("/v1/send/batch", to("a@example.com"), X_API_Key=key)
    elsewhere = await api.post("/v1/send/batch", to("a@example.com", sender="relay"), X_API_Key=key)

    assert named.status_code == 202
    assert elsewhere.status_code == 422
    async with connect(api.database) as conn:
        route = (
            "SELECT l.route FROM mailqueue.email_queue AS q"
            " JOIN mailqueue.lanes AS l ON l.id = q.lane_id"
        )
        assert await make.rows(conn, route) == [("(test)",)]
