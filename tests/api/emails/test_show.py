"""One mail as the API shows it, and the API's health."""

from uuid import uuid4

import pytest
from psycopg.types.json import Jsonb

from mailqueue.db.pool import connect
from mailqueue.projects.keys.manage import issue_key
from tests import make
from tests.api.support.calling import HELLO, Calling, error_of
from tests.rows import each_row

pytestmark = pytest.mark.anyio
SAID = {
    "protocol": "http",
    "lines": [
        {"ms": 0, "by": "client", "text": "POST https://api.example.com/send"},
        {"ms": 12, "by": "server", "text": "429 Too Many Requests"},
    ],
    "body": "<b>slow down</b>",
}


async def test_a_queued_mail_says_why_it_waits(api: Calling) -> None:
    sent = (await api.send({**HELLO, "tags": ["a"], "custom_data": {"n": 1}})).json()

    email = (await api.get(f"/v1/emails/{sent['id']}")).json()

    assert (email["id"], email["status"], email["subject"]) == (sent["id"], "pending", "Hello")
    assert "no worker is running" in email["why"]
    assert (email["tags"], email["custom_data"]) == (["a"], {"n": 1})
    assert email["attempts"] == []
    assert email["has_more_attempts"] is False
    assert email["attempt_count"] == 0
    assert [(each["kind"], each["address"], each["status"]) for each in email["recipients"]] == [
        ("to", "ann@example.com", "pending")
    ]


async def test_attempts_and_events_are_listed_in_order(api: Calling) -> None:
    sent = (await api.send({**HELLO, "cc": ["bob@example.com"]})).json()
    async with connect(api.database) as conn:
        project = await make.project_named(conn)
        for attempt, (status, code) in enumerate((("deferred", "451"), ("sent", "250")), start=1):
            await make.inserted(
                conn,
                "send_logs",
                {
                    "email_id": sent["id"],
                    "project_id": project,
                    "attempt": attempt,
                    "status": status,
                    "recipient_email": "ann@example.com",
                    "error_code": code,
                    "reply": "said so",
                    "response_ms": 12,
                    "conversation": None if code == "250" else Jsonb(SAID),
                },
            )
        await make.inserted(
            conn,
            "email_events",
            {"email_id": sent["id"], "project_id": project, "type": "deferred", "detail": "later"},
        )

    email = (await api.get(f"/v1/emails/{sent['id']}")).json()

    assert [(each["attempt"], each["status"], each["code"]) for each in email["attempts"]] == [
        (1, "deferred", "451"),
        (2, "sent", "250"),
    ]
    assert [each["conversation"] for each in email["attempts"]] == [SAID, None]
    assert [(each["type"], each["detail"]) for each in email["events"]] == [("deferred", "later")]
    assert [each["address"] for each in email["recipients"]] == [
        "ann@example.com",
        "bob@example.com",
    ]


async def test_of_many_events_the_newest_are_shown_and_all_are_listed(api: Calling) -> None:
    email = (await api.send()).json()["id"]
    async with connect(api.database) as conn:
        ((mail, claim),) = await make.claimed(conn, await make.worker(conn))
        assert str(mail) == email
        await conn.execute(
            "SELECT mailqueue.settle_emails(%s, %s, '{sent}', '{250 ok}', '{NULL}', '{1}', '{1}',"
            " '{sent}', '{<1@example.com>}', '{NULL}', '{250}', '{NULL}', '{ok}', '{7}', '{f}')",
            ([mail], [claim]),
        )
        await conn.execute(
            "INSERT INTO mailqueue.email_events (email_id, project_id, type, occurred_at, detail)"
            " SELECT %s, p.id, 'opened', clock_timestamp() + n * interval '1 ms', n::text"
            " FROM mailqueue.projects AS p, generate_series(1, 2000) AS n"
            " WHERE p.name = 'default'",
            (email,),
        )

    answer = await api.get(f"/v1/emails/{email}")

    found = answer.json()
    assert len(answer.content) < 100_000
    assert [int(one["detail"]) for one in found["events"]] == list(range(1_901, 2_001))
    assert [one["what"] for one in found["timeline"]][:3] == ["accepted", "attempt_sent", "sent"]
    listed: list[tuple[str, str | None]] = []
    path = f"{found['more_events']}?limit=100"
    while path:
        page = (await api.get(path)).json()
        listed += [(one["type"], one["detail"]) for one in page["data"]]
        more = page["next_cursor"]
        path = f"{found['more_events']}?limit=100&cursor={more}" if more else ""
    assert listed[:3] == [("queued", None), ("sent", None), ("opened", "1")]
    assert len(listed) == 2_002
    assert len(set(listed)) == 2_002


async def test_of_many_attempts_the_newest_are_shown(api: Calling) -> None:
    """Mail that a rate delays collects attempts; what was said at one has up to 8 KiB."""
    email = (await api.send()).json()["id"]
    said = {**SAID, "body": "x" * 7_000}
    async with connect(api.database) as conn:
        await conn.execute(
            "INSERT INTO mailqueue.send_logs (email_id, project_id, attempt, status, sent_at,"
            " recipient_email, conversation)"
            " SELECT %s, p.id, n, 'deferred', clock_timestamp() + n * interval '1 ms',"
            " 'ann@example.com', %s FROM mailqueue.projects AS p, generate_series(1, 3000) AS n"
            " WHERE p.name = 'default'",
            (email, Jsonb(said)),
        )

    answer = await api.get(f"/v1/emails/{email}")

    found = answer.json()
    assert len(answer.content) < 300_000
    assert found["has_more_attempts"] is True
    assert [one["attempt"] for one in found["attempts"]] == list(range(2_801, 3_001))
    told = [one["attempt"] for one in found["attempts"] if one["conversation"] == said]
    assert told == list(range(2_981, 3_001))
    assert [one["what"] for one in found["timeline"]] == ["accepted", *["attempt_deferred"] * 200]


async def test_mail_that_was_suppressed_at_once_was_never_queued(api: Calling) -> None:
    await api.post("/v1/suppressions", {"email": "ann@example.com"})
    email = (await api.send()).json()["id"]

    found = (await api.get(f"/v1/emails/{email}")).json()
    events = (await api.get(f"/v1/emails/{email}/events")).json()["data"]

    assert [one["type"] for one in events] == ["suppressed"]
    assert (found["more_events"], len(found["events"])) == (None, 1)


async def test_another_projects_mail_is_not_there(api: Calling) -> None:
    sent = (await api.send()).json()
    async with connect(api.database) as conn:
        await make.project(conn, "other")
        other = (await issue_key(conn, "other", "web", is_test=False)).key.reveal()

    hidden = await api.get(f"/v1/emails/{sent['id']}", key=other)
    missing = await api.get(f"/v1/emails/{uuid4()}")

    assert (hidden.status_code, missing.status_code) == (404, 404)
    assert error_of(hidden)["name"] == error_of(missing)["name"] == "not_found"


@each_row("name", ["x", "..", "%00", "1" * 5000, "'; DROP TABLE x; --"])
async def test_what_is_no_id_is_not_there(api: Calling, name: str) -> None:
    response = await api.get(f"/v1/emails/{name}")

    assert response.status_code == 404
    assert error_of(response)["name"] == "not_found"


async def test_a_key_is_needed_to_look(api: Calling) -> None:
    assert (await api.http.get(f"/v1/emails/{uuid4()}")).status_code == 401


async def test_alive_and_ready_need_no_key(api: Calling) -> None:
    for path in ("/livez", "/healthz"):
        assert (await api.http.get(path)).json() == {"status": "alive"}
    assert (await api.http.get("/readyz")).json() == {"status": "ready"}
    async with connect(api.database) as conn:
        await conn.execute("DROP SCHEMA mailqueue CASCADE")
    away = await api.http.get("/readyz")
    assert away.status_code == 503
    assert (await api.http.get("/livez")).status_code == 200
    assert "mailqueue migrate" in error_of(away)["message"]


async def test_unknown_paths_and_methods_are_json_too(api: Calling) -> None:
    unknown = await api.http.get("/v1/nothing")
    wrong = await api.http.get("/v1/send")

    assert (unknown.status_code, error_of(unknown)["name"]) == (404, "not_found")
    assert (wrong.status_code, error_of(wrong)["name"]) == (405, "method_not_allowed")
