"""The page of an email: webhooks, files, and the acts that move and resolve it."""

import re
from base64 import b64encode

import pytest
from playwright.async_api import Browser, expect
from psycopg.types.json import Jsonb

from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.console.looking import looking_at, shown
from tests.console.test_pages import EMAILS, logged_in, queued
from tests.console.visiting import Visiting
from tests.operations.test_resolve import in_doubt
from tests.templates.making import published
from tests.webhooks.delivering import told, webhook

pytestmark = pytest.mark.anyio


async def test_a_file_is_saved_and_never_shown_and_looking_is_audited(console: Visiting) -> None:
    content = b64encode(b"%PDF-1.4 x").decode()
    file = {"filename": "x.pdf", "content": content, "content_type": "application/pdf"}
    async with console.connection() as conn:
        email = await make.queued_email(conn, attachments=[file])
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        listed = await visitor.get(f"{EMAILS}/{email}/message?view=files")
        found = await visitor.get(f"{EMAILS}/{email}/message/files/0")
        for number in ("1", "-1", "x", "٣", "99999"):
            missing = await visitor.get(f"{EMAILS}/{email}/message/files/{number}")
            assert missing.status_code == 404, number

    assert f"{EMAILS}/{email}/message/files/0" in listed.text
    assert found.content == b"%PDF-1.4 x"
    assert found.headers["content-type"] == "application/octet-stream"
    assert found.headers["content-disposition"].startswith('attachment; filename="x.pdf"')
    assert found.headers["x-content-type-options"] == "nosniff"
    assert found.headers["content-security-policy"] == "sandbox"
    async with console.connection() as conn:
        parts = await make.rows(
            conn,
            "SELECT detail ->> 'part' FROM mailqueue.audit_events WHERE action = 'email.viewed'"
            " ORDER BY id",
        )
    assert parts == [("files",), ("files/0",)]


async def test_the_page_says_what_webhooks_were_told(console: Visiting) -> None:
    async with console.connection() as conn:
        email = await make.queued_email(conn)
        await webhook(conn, "http://127.0.0.1/hook?a=1&b=2")
        await told(conn, email_id=email)
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        page = await visitor.get(f"{EMAILS}/{email}")

    assert "http://127.0.0.1/hook?a=1&amp;b=2" in page.text
    assert "0 attempts" in page.text


async def test_commands_of_the_reason_stand_apart(console: Visiting) -> None:
    (email,) = await queued(console)
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        page = await visitor.get(f"{EMAILS}/{email}")

    assert "Commands for a shell" in page.text
    assert 'data-copy="mailqueue sender add' in page.text


async def test_an_email_is_moved_to_another_account_by_a_form(console: Visiting) -> None:
    async with console.connection() as conn:
        for name in ("relay", "backup"):
            await make.sender_account(conn, name=name)
        email = await make.queued_email(conn, sender="relay")
    path = f"{EMAILS}/{email}/move"
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        form = await visitor.get(path)
        refused = await visitor.submit(path, path, sender="<nobody>", reason="kept")
        done = await visitor.submit(path, path, sender="backup", reason="relay is down")
        page = await visitor.get(done.headers["location"])

    assert "<option>backup</option>" in form.text
    assert refused.status_code == 422
    assert "no sender account" in refused.text
    assert 'value="kept"' in refused.text
    assert "was moved to the sender account" in page.text
    async with console.connection() as conn:
        route = await make.scalar(
            conn,
            "SELECT l.route FROM mailqueue.email_queue AS q JOIN mailqueue.lanes AS l"
            " ON l.id = q.lane_id",
        )
    assert route == "backup"


async def test_only_an_email_in_doubt_offers_to_be_resolved(console: Visiting) -> None:
    async with console.connection() as conn:
        _, doubtful = await in_doubt(conn)
        held = await make.queued_email(conn)
        project = await make.project_named(conn)
        await make.rows(conn, "SELECT mailqueue.hold_emails(%s, %s, 'x')", project, [held])
    path = f"{EMAILS}/{doubtful.id}/was_sent"
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        offering = await visitor.get(f"{EMAILS}/{doubtful.id}")
        other = await visitor.get(f"{EMAILS}/{held}")
        done = await visitor.submit(path, path, reason="ann has it")
        page = await visitor.get(done.headers["location"])

    assert "It was not sent …" in offering.text
    assert "It was not sent" not in other.text
    assert "finished as sent" in page.text
    assert '<span class="pill good">sent</span>' in page.text


async def test_the_list_is_filtered_by_custom_data(console: Visiting) -> None:
    await queued(console, subject="Order 81", custom_data={"order": 81})
    await queued(console, subject="Order 82", custom_data={"order": 82})
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        found = await visitor.get(f"{EMAILS}?data=order%3D81")
        wrong = await visitor.get(f"{EMAILS}?data=order")

    assert "Order 81" in found.text
    assert "Order 82" not in found.text
    assert "must be KEY=VALUE" in wrong.text


def said(by: str, text: str) -> dict[str, object]:
    return {"ms": 5_217, "by": by, "text": text}


@pytest.mark.parametrize("role", ["support", "viewer"])
async def test_what_was_said_unfolds_and_its_body_is_for_who_may_read(
    console: Visiting, role: str
) -> None:
    hostile = "550 </code></ol><script>alert(1)</script>"
    conversation = {
        "protocol": "http",
        "lines": [said("client", "POST https://api.example.com/"), said("server", hostile)],
        "body": "Invalid subject: <b>Your illness</b>",
    }
    async with console.connection() as conn:
        email = await make.queued_email(conn)
        attempt = {
            "email_id": email,
            "project_id": await make.project_named(conn),
            "status": "deferred",
            "recipient_email": "ann@example.com",
        }
        await make.inserted(
            conn, "send_logs", attempt | {"attempt": 1, "conversation": Jsonb(conversation)}
        )
        await make.inserted(conn, "send_logs", attempt | {"attempt": 2})
    async with console.visitor() as visitor:
        await logged_in(console, visitor, role)
        page = (await visitor.get(f"{EMAILS}/{email}")).text
        state = (await visitor.get(f"{EMAILS}/{email}/live")).json()["state"]

    for html in (page, state):
        assert html.count('<details class="conversation"') == 1
        assert '<li class="by-server"><span class="ms">5.2 s</span>' in html
        assert "550 &lt;/code&gt;&lt;/ol&gt;&lt;script&gt;" in html
        assert "<script>alert" not in html
        assert ("Your illness" in html) is (role == "support")
        assert "<b>Your illness" not in html
        assert ("may quote the message" in html) is (role == "viewer")


@pytest.mark.browser
async def test_what_was_said_stays_unfolded_while_the_email_is_watched(
    database: DatabaseSettings, browser: Browser
) -> None:
    client = [
        said("client", text)
        for text in ("RCPT TO:<ann@example.com>", "DATA", "(the message, 2048 bytes)", ".")
    ]
    conversation = {
        "protocol": "smtp",
        "lines": [
            {"ms": 2, "by": "server", "text": "220 mx.example.com ESMTP"},
            {"ms": 9, "by": "note", "text": "TLSv1.3, TLS_AES_256_GCM_SHA384"},
            *client,
            said("server", "451 4.3.0 " + "long " * 60),
        ],
    }
    async with looking_at(database, browser) as seen:
        async with seen.console.connection() as conn:
            email = await make.queued_email(conn)
            values = {
                "email_id": email,
                "project_id": await make.project_named(conn),
                "status": "deferred",
                "recipient_email": "ann@example.com",
                "attempt": 1,
                "conversation": Jsonb(conversation),
            }
            await make.inserted(conn, "send_logs", values)
        await seen.log_in()
        await seen.page.goto(f"{seen.url}{EMAILS}/{email}")
        line = seen.page.get_by_text("220 mx.example.com ESMTP")
        await expect(line).to_be_hidden()
        await seen.page.get_by_text("What was said").click()
        await expect(line).to_be_visible()
        async with seen.console.connection() as conn:
            await make.inserted(conn, "send_logs", values | {"attempt": 2})
        await expect(seen.page.get_by_text("What was said")).to_have_count(2, timeout=20_000)
        await expect(line.first).to_be_visible()
        await expect(line.last).to_be_hidden()
        await shown(seen, "conversation")

    assert seen.complaints == []


async def test_send_again_to_a_suppressed_address_says_why_not_and_then_sends(
    console: Visiting,
) -> None:
    async with console.connection() as conn:
        await conn.execute("INSERT INTO mailqueue.unsubscribe_list (email) VALUES ('ann@b.com')")
        email = await make.queued_email(conn, recipient_email="ann@b.com")
    path = f"{EMAILS}/{email}/resend"
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        refused = await visitor.submit(path, path, reason="kept")
        async with console.connection() as conn:
            await conn.execute("DELETE FROM mailqueue.suppressions")
        done = await visitor.submit(path, path, reason="it is her address")

    assert refused.status_code == 409
    assert "is suppressed, and its recipients are suppressed (unsubscribed)" in refused.text
    assert 'value="kept"' in refused.text
    assert done.status_code == 303
    async with console.connection() as conn:
        statuses = await make.rows(conn, "SELECT status FROM mailqueue.emails ORDER BY status")
    assert statuses == [("pending",), ("suppressed",)]


async def test_the_filters_suggest_what_the_project_has_and_nothing_of_another(
    console: Visiting,
) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        for name in ("shop", "blog"):
            project = await make.project(conn, name)
            await published(conn, project, slug=f"of-{name}")
            await make.sender_account(conn, name=f"by-{name}", project_id=project)
            await make.queued_email(conn, project_id=project, campaign_id=f"<{name}>")
        await console.add_user("ann", "viewer", "shop")
        await visitor.log_in("ann")
        found = (await visitor.get("/console/projects/shop/emails/suggestions")).text

    assert re.findall(r'option value="([^"]*)"', found) == ["&lt;shop&gt;", "of-shop", "by-shop"]
