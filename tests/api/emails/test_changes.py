"""PATCH of one mail, hold, and actions on the mails of a batch, also while a worker claims them."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from mailqueue.db.pool import connect
from mailqueue.projects.keys.manage import issue_key
from tests import make
from tests.api.support.calling import HELLO, Calling, error_of
from tests.mail.claim.steps import claim
from tests.rows import each_row

pytestmark = pytest.mark.anyio
LATER = "2030-05-01T08:00:00+02:00"


async def queued(api: Calling, **options: Any) -> str:
    found: str = (await api.send({**HELLO, **options})).json()["id"]
    return found


async def patched(api: Calling, email: str, body: Any, key: str | None = None) -> Any:
    return await api.http.patch(
        f"/v1/emails/{email}", json=body, headers={"X-API-Key": key or api.key}
    )


async def batch(api: Calling, count: int) -> str:
    people = [{"email": f"n{number}@example.com"} for number in range(count)]
    body = {"subject": "News", "text_body": "News", "recipients": people}
    found: str = (await api.post("/v1/send/batch", body)).json()["batch_id"]
    return found


async def row(api: Calling, email: str) -> tuple[Any, ...]:
    query = (
        "SELECT q.run_at, q.expires_at - q.run_at, q.priority, l.priority"
        " FROM mailqueue.email_queue AS q JOIN mailqueue.lanes AS l ON l.id = q.lane_id"
        " WHERE q.id = %s"
    )
    async with connect(api.database) as conn:
        [found] = await make.rows(conn, query, email)
    return found


async def test_time_and_priority_of_pending_mail_are_changed(api: Calling) -> None:
    email = await queued(api)

    answer = await patched(api, email, {"scheduled_at": LATER, "priority": "high"})

    assert answer.status_code == 200, answer.text
    assert answer.json()["priority"] == "high"
    at = datetime.fromisoformat(LATER)
    assert datetime.fromisoformat(answer.json()["scheduled_at"]) == at
    assert await row(api, email) == (at, timedelta(days=4), 1, 1)
    async with connect(api.database) as conn:
        audit = "SELECT detail ->> 'priority' FROM mailqueue.audit_events WHERE action = %s"
        assert await make.scalar(conn, audit, "emails.changed") == "high"


async def test_mail_scheduled_for_later_is_sent_now_and_keeps_what_is_not_named(
    api: Calling,
) -> None:
    email = await queued(api, scheduled_at=LATER, priority="low")

    answer = await patched(api, email, {"scheduled_at": "2001-01-01T00:00:00Z"})

    assert answer.status_code == 200, answer.text
    assert answer.json()["priority"] == "low"
    async with connect(api.database) as conn:
        claims = await claim(conn, await make.worker(conn))
    assert [str(one.id) for one in claims] == [email]


@each_row(
    "body, field",
    [
        ({}, "scheduled_at"),
        ({"scheduled_at": None}, "scheduled_at"),
        ({"scheduled_at": "20300501"}, "scheduled_at"),
        ({"scheduled_at": "0"}, "scheduled_at"),
        ({"scheduled_at": "2999-01-01T00:00:00Z"}, "scheduled_at"),
        ({"priority": "urgent"}, "priority"),
        ({"priority": 4}, "priority"),
        ({"priority": True}, "priority"),
        ({"subject": "x"}, "subject"),
    ],
)
async def test_a_faulty_change_is_named_and_changes_nothing(
    api: Calling, body: dict[str, Any], field: str
) -> None:
    email = await queued(api)
    before = await row(api, email)

    answer = await patched(api, email, body)

    assert (answer.status_code, error_of(answer)["field"]) == (422, field), answer.text
    assert await row(api, email) == before


async def test_mail_of_another_project_and_unknown_mail_is_404(api: Calling) -> None:
    for path in (f"/v1/batches/{uuid4()}/cancel", f"/v1/batches/{uuid4()}/hold"):
        assert (await api.post(path)).status_code == 404
    assert (await patched(api, str(uuid4()), {"priority": 1})).status_code == 404
    email, of_batch = await queued(api), await batch(api, 2)
    async with connect(api.database) as conn:
        await make.project(conn, "elsewhere")
        key = (await issue_key(conn, "elsewhere", "k", is_test=False)).key.reveal()
    assert (await patched(api, email, {"priority": 1}, key)).status_code == 404
    for action in ("cancel", "hold", "release"):
        answer = await api.post(f"/v1/batches/{of_batch}/{action}", key=key)
        assert answer.status_code == 404
    assert (await api.get(f"/v1/batches/{of_batch}")).json()["counts"] == {"pending": 2}


@pytest.mark.deep
async def test_a_change_waits_for_a_claim_that_has_begun_and_tells_the_state(api: Calling) -> None:
    email = await queued(api)
    async with connect(api.database) as conn:
        worker = await make.worker(conn)
        async with conn.transaction():
            assert len(await claim(conn, worker)) == 1
            asked = asyncio.create_task(patched(api, email, {"scheduled_at": LATER}))
            await asyncio.sleep(0.3)
            assert not asked.done()
    answer = await asked

    assert answer.status_code == 409
    assert f"email {email} is assigned: " in error_of(answer)["message"]
    assert (await row(api, email))[0] <= datetime.now(UTC)


async def test_the_time_of_an_attempted_mail_stays_and_its_priority_changes(api: Calling) -> None:
    email = await queued(api)
    async with connect(api.database) as conn:
        await conn.execute("UPDATE mailqueue.email_queue SET attempts = 1")

    both = await patched(api, email, {"scheduled_at": LATER, "priority": "low"})
    alone = await patched(api, email, {"priority": "low"})

    assert both.status_code == 409
    assert "is pending and was attempted: " in error_of(both)["message"]
    assert alone.status_code == 200
    assert (await row(api, email))[2:] == (3, 3)


async def test_one_mail_is_held_and_released(api: Calling) -> None:
    email = await queued(api)

    held = await api.post(f"/v1/emails/{email}/hold", {"reason": "wait for legal"})
    again = await api.post(f"/v1/emails/{email}/hold")
    moved = await patched(api, email, {"scheduled_at": LATER})
    released = await api.post(f"/v1/emails/{email}/release")

    assert held.json() == {"id": email, "result": "held"}
    assert (again.status_code, error_of(again)["name"]) == (409, "conflict")
    assert "is held" in error_of(again)["message"]
    assert moved.status_code == 200
    assert released.json()["result"] == "released"
    assert (await row(api, email))[0] == datetime.fromisoformat(LATER)


async def test_a_batch_is_held_released_and_cancelled(api: Calling) -> None:
    found = await batch(api, 3)
    other = await queued(api)

    held = await api.post(f"/v1/batches/{found}/hold", {"reason": "wrong price"})
    again = await api.post(f"/v1/batches/{found}/hold")
    released = await api.post(f"/v1/batches/{found}/release")
    async with connect(api.database) as conn:
        await conn.execute(
            "UPDATE mailqueue.email_queue SET run_at = now() + interval '1 h'"
            " WHERE recipient_email <> 'n0@example.com'"
        )
        assert len(await claim(conn, await make.worker(conn))) == 1
    cancelled = await api.post(f"/v1/batches/{found}/cancel")
    late = await api.post(f"/v1/batches/{found}/cancel")

    assert held.json() == {"id": found, "results": {"held": 3}, "counts": {"held": 3}}
    assert again.status_code == 409
    assert "has emails that are 3 held: " in error_of(again)["message"]
    assert released.json() == {"id": found, "results": {"released": 3}, "counts": {"pending": 3}}
    assert cancelled.json() == {
        "id": found,
        "results": {"cancelled": 2, "cancelling": 1},
        "counts": {"assigned": 1, "cancelled": 2},
    }
    assert late.status_code == 409
    assert "1 assigned, 2 cancelled" in error_of(late)["message"]
    assert (await api.get(f"/v1/emails/{other}")).json()["status"] == "pending"
    async with connect(api.database) as conn:
        audit = (
            "SELECT action, detail ->> 'emails' FROM mailqueue.audit_events"
            " WHERE detail ->> 'batch' = %s ORDER BY id"
        )
        assert await make.rows(conn, audit, found) == [
            ("emails.held", "3"),
            ("emails.released", "3"),
            ("emails.cancelled", "3"),
        ]
