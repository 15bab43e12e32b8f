"""Actions on single mails: cancel, release, resend, move and resolve, where the state allows it."""

from uuid import uuid4

import pytest

from mailqueue.db.pool import connect
from mailqueue.mail.model import Ending, LogStatus
from mailqueue.projects.keys.manage import issue_key
from tests import make
from tests.api.support.calling import HELLO, Calling, error_of
from tests.mail.claim.steps import claim, settle

pytestmark = pytest.mark.anyio


async def queued(api: Calling) -> str:
    found: str = (await api.send({**HELLO, "html_body": "<p>Hi</p>"})).json()["id"]
    return found


async def finished(api: Calling, ending: Ending) -> str:
    found = await queued(api)
    async with connect(api.database) as conn:
        claims = await claim(conn, await make.worker(conn))
        log = LogStatus.SENT if ending is Ending.SENT else LogStatus.FAILED
        await settle(conn, claims, ending, log=log, reason=None if log == "sent" else "no")
    return found


async def status(api: Calling, email: str) -> str:
    found: str = (await api.get(f"/v1/emails/{email}")).json()["status"]
    return found


async def test_a_queued_mail_is_cancelled_once_and_the_audit_says_by_whom(api: Calling) -> None:
    email = await queued(api)

    done = await api.post(f"/v1/emails/{email}/cancel", {"reason": "ordered twice"})
    again = await api.post(f"/v1/emails/{email}/cancel")

    assert done.json() == {"id": email, "result": "cancelled"}
    assert (again.status_code, error_of(again)["name"]) == (409, "conflict")
    assert "is cancelled" in error_of(again)["message"]
    shown = (await api.get(f"/v1/emails/{email}")).json()
    assert (shown["status"], shown["reason"]) == ("cancelled", "ordered twice")
    assert [one["what"] for one in shown["timeline"]] == ["accepted", "cancelled"]
    async with connect(api.database) as conn:
        audit = "SELECT action, actor FROM mailqueue.audit_events WHERE action LIKE 'emails%'"
        [(action, actor)] = await make.rows(conn, audit.replace("%", "%%"))
    assert action == "emails.cancelled"
    assert "key tests" in actor


async def test_held_mail_is_released(api: Calling) -> None:
    email = await queued(api)
    async with connect(api.database) as conn:
        await conn.execute("UPDATE mailqueue.email_queue SET status = 'held', last_error = 'look'")

    done = await api.post(f"/v1/emails/{email}/release")

    assert done.json() == {"id": email, "result": "released"}
    assert await status(api, email) == "pending"


async def test_sent_mail_is_resent_as_another_and_failed_mail_under_its_id(api: Calling) -> None:
    sent = await finished(api, Ending.SENT)
    failed = await finished(api, Ending.FAILED)

    anew = (await api.post(f"/v1/emails/{sent}/resend")).json()
    again = (await api.post(f"/v1/emails/{failed}/resend")).json()

    assert anew["result"] == "resent"
    assert anew["id"] != sent
    assert again == {"id": failed, "result": "requeued"}
    assert [await status(api, each) for each in (sent, anew["id"], failed)] == [
        "sent",
        "pending",
        "pending",
    ]


async def test_mail_to_a_suppressed_address_is_not_sent_again_and_the_error_says_why(
    api: Calling,
) -> None:
    failed = await finished(api, Ending.FAILED)
    await api.post("/v1/suppressions", {"email": "ann@example.com"})

    refused = await api.post(f"/v1/emails/{failed}/resend")

    assert (refused.status_code, error_of(refused)["name"]) == (409, "conflict")
    assert "is failed, and its recipients are suppressed (manual)" in error_of(refused)["message"]
    assert await status(api, failed) == "failed"


async def test_what_is_not_there_is_not_touched(api: Calling) -> None:
    email = await queued(api)
    async with connect(api.database) as conn:
        await make.project(conn, "other")
        other = (await issue_key(conn, "other", "web", is_test=False)).key.reveal()
        reader = await issue_key(conn, "default", "read", is_test=False, scopes=["email:read"])

    for action in ("cancel", "release", "resend"):
        for found, key in ((email, other), (str(uuid4()), api.key), ("x", api.key)):
            answer = await api.post(f"/v1/emails/{found}/{action}", X_API_Key=key)
            assert answer.status_code == 404
    for suffix in ("", "/events", "/source"):
        assert (await api.get(f"/v1/emails/{email}{suffix}", key=other)).status_code == 404
    refused = await api.post(f"/v1/emails/{email}/cancel", X_API_Key=reader.key.reveal())
    assert (refused.status_code, error_of(refused)["needed"]) == (403, "scope email:send")
    assert await status(api, email) == "pending"


async def test_the_source_is_what_a_server_gets(api: Calling) -> None:
    email = await queued(api)

    first = await api.get(f"/v1/emails/{email}/source")
    again = await api.get(f"/v1/emails/{email}/source")

    assert first.content == again.content, "a mail keeps its Date and Message-ID"
    assert f"Message-ID: <{email.replace('-', '')}".encode() in first.content
    assert b"\r\nSubject: Hello\r\n" in first.content
    assert first.headers["content-disposition"] == f'attachment; filename="{email}.eml"'


async def test_the_source_of_mail_whose_content_is_gone_says_so(api: Calling) -> None:
    email = await queued(api)
    async with connect(api.database) as conn:
        await conn.execute("DELETE FROM mailqueue.email_contents")

    gone = await api.get(f"/v1/emails/{email}/source")

    assert gone.status_code == 409
    assert "deleted or archived" in error_of(gone)["message"]


async def test_events_are_listed_by_themselves(api: Calling) -> None:
    email = await queued(api)
    async with connect(api.database) as conn:
        project = await make.project_named(conn)
        event = {"email_id": email, "project_id": project, "type": "delivered", "detail": "ok"}
        await make.inserted(conn, "email_events", event)

    found = (await api.get(f"/v1/emails/{email}/events")).json()

    assert [(one["type"], one["detail"]) for one in found["data"]] == [
        ("queued", None),
        ("delivered", "ok"),
    ]
    assert found["next_cursor"] is None


async def test_an_email_is_moved_to_a_sender_account(api: Calling) -> None:
    found = await queued(api)
    async with connect(api.database) as conn:
        await make.sender_account(conn, name="backup")

    moved = await api.post(f"/v1/emails/{found}/move", {"sender": "backup", "reason": "down"})
    unknown = await api.post(f"/v1/emails/{found}/move", {"sender": "nobody"})
    missing = await api.post(f"/v1/emails/{found}/move", {})
    back = await api.post(f"/v1/emails/{found}/move", {"sender": None})

    assert moved.json() == {"id": found, "result": "moved"}
    assert error_of(unknown)["field"] == "sender"
    assert error_of(missing)["field"] == "sender"
    assert back.status_code == 200


async def test_an_email_in_doubt_is_resolved_and_no_other(api: Calling) -> None:
    found = await queued(api)
    refused = await api.post(f"/v1/emails/{found}/resolve", {"was_sent": True})
    async with connect(api.database) as conn:
        await make.sender_account(conn)
        claims = await claim(conn, await make.worker(conn))
        await conn.execute("UPDATE mailqueue.email_queue SET delivery = 'hold'")
        await settle(conn, claims, Ending.UNKNOWN, log=LogStatus.UNKNOWN, reason="lost")
    done = await api.post(f"/v1/emails/{found}/resolve", {"was_sent": False, "note": "not there"})

    assert refused.status_code == 409
    assert done.json() == {"id": found, "result": "queued"}
    assert (await api.get(f"/v1/emails/{found}")).json()["status"] == "pending"
