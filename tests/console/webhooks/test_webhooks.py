"""Webhooks in the console: added, tried, looked at, and delivered again."""

import re
from collections.abc import AsyncIterator
from html import unescape
from ipaddress import ip_network
from uuid import UUID, uuid4

import pytest
import standardwebhooks

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.adapters.sending.fake import FakeReply, fake
from tests.api.support.wired import MASTER
from tests.console.visiting import Visiting, Visitor, fields_of, visiting
from tests.webhooks.delivering import told, webhook

pytestmark = pytest.mark.anyio

HOOKS = "/console/projects/default/webhooks"
URL = "https://app.example.com/hooks"
_SECRET = re.compile(r"whsec_[0-9A-Za-z+/=]{32,}")


@pytest.fixture
async def console(database: DatabaseSettings) -> AsyncIterator[Visiting]:
    allowed = (ip_network("127.0.0.0/8"),)
    async with visiting(database, master_key=Secret(MASTER), allowed_hosts=allowed) as made:
        yield made


async def logged_in(console: Visiting, visitor: Visitor, role: str = "project_admin") -> None:
    await console.add_user(role, role, "default")
    assert (await visitor.log_in(role)).status_code == 303


async def id_of(console: Visiting) -> UUID:
    async with console.connection() as conn:
        found: UUID = await make.scalar(
            conn, "SELECT id FROM mailqueue.webhooks ORDER BY created_at DESC LIMIT 1"
        )
    return found


async def failed(conn: Conn, count: int) -> UUID:
    """Make a webhook with deliveries that failed."""
    made = await webhook(conn, URL)
    await told(conn, count)
    await conn.execute(
        "UPDATE mailqueue.webhook_deliveries SET status = 'failed', attempts = 7, last_code = 503,"
        " last_error = '503 <busy>', finished_at = now()"
    )
    return made


async def statuses(console: Visiting) -> list[str]:
    async with console.connection() as conn:
        rows = await make.rows(conn, "SELECT status FROM mailqueue.webhook_deliveries ORDER BY id")
    return [row[0] for row in rows]


async def test_a_webhook_is_added_its_secret_shown_once_and_it_is_tried(
    console: Visiting,
) -> None:
    async with console.visitor() as visitor, fake([FakeReply(202, b"<b>thanks")]) as server:
        await logged_in(console, visitor)
        empty = (await visitor.get(HOOKS)).text
        url = f"http://127.0.0.1:{server.port}/hooks"
        added = await visitor.submit(
            f"{HOOKS}/new", f"{HOOKS}/new", url=url, **{"type-email.sent": "on"}
        )
        found = _SECRET.search(unescape(added.text))
        assert found is not None, added.text
        path = f"{HOOKS}/{await id_of(console)}"
        fields = await visitor.form(f"{path}/test", f"{path}/test")
        tested = await visitor.post(f"{path}/test", fields | {"type": "email.sent"})
        again = await visitor.post(f"{path}/test", fields | {"type": "email.sent"})
        listed = (await visitor.get(HOOKS)).text
        page = (await visitor.get(path)).text

    assert "No webhook yet" in empty
    assert "accepted the event with 202" in tested.text
    assert "&lt;b&gt;thanks" in tested.text
    assert "was not sent again" in again.text
    assert len(server.requests) == 1
    (request,) = server.requests
    event = standardwebhooks.Webhook(found[0]).verify(request.body.decode(), dict(request.headers))
    assert (event["type"], event["data"]["is_test"]) == ("email.sent", True)
    assert found[0] not in listed + page
    assert "email.sent" in page


async def test_errors_stand_at_the_field_and_keep_what_was_typed(console: Visiting) -> None:
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        fields = await visitor.form(f"{HOOKS}/new", f"{HOOKS}/new")
        for url, why in (
            ("ftp://app.example.com/", "Must begin with https://"),
            ("https://10.0.0.1/", "is not a public address"),
            ("https://user:pass@app.example.com/", "must not hold a user name"),
            ('https://app.example.com/"><script>', "%-encoded"),
            ("", "Must begin with https://"),
        ):
            given = fields | {"url": url, "description": "a <i>", "type-email.failed": "on"}
            response = await visitor.post(f"{HOOKS}/new", given)
            assert response.status_code == 422, url
            fault = re.search(r'id="fault-url">([^<]*)', response.text)
            assert fault is not None, url
            assert why.lower() in unescape(fault[1]).lower(), url
            assert 'value="a &lt;i&gt;"' in response.text
            assert re.search(r'name="type-email.failed"[^>]* checked', response.text)
        done = await visitor.post(f"{HOOKS}/new", fields | {"url": URL})

    assert done.status_code == 200


async def test_a_change_that_another_user_has_made_old_is_told_not_overwritten(
    console: Visiting,
) -> None:
    async with console.connection() as conn:
        path = f"{HOOKS}/{await webhook(conn, URL)}"
    async with console.visitor() as visitor, console.visitor() as another:
        await logged_in(console, visitor)
        await console.add_user("ben", "superadmin")
        await another.log_in("ben")
        old = await visitor.form(f"{path}/change", f"{path}/change")
        first = await another.submit(
            f"{path}/change", f"{path}/change", url=URL, description="Orders"
        )
        second = await visitor.post(f"{path}/change", old | {"url": f"{URL}/2"})
        page = (await visitor.get(path)).text

    assert first.status_code == 303
    assert second.status_code == 422
    assert "Another user changed this webhook meanwhile" in second.text
    assert "Orders" in page
    assert f"{URL}/2" not in page


async def test_yesterdays_failures_are_counted_and_delivered_again(console: Visiting) -> None:
    async with console.connection() as conn:
        hook = await failed(conn, 5)
        await conn.execute(
            "UPDATE mailqueue.webhook_deliveries SET created_at = created_at - interval '3 d'"
            " WHERE id IN (SELECT id FROM mailqueue.webhook_deliveries ORDER BY id LIMIT 2)"
        )
    path = f"{HOOKS}/{hook}"
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        page = (await visitor.get(path)).text
        link = re.search(r'href="([^"]*/retry\?[^"]*)"', page)
        assert link is not None
        asked = (await visitor.get(unescape(link[1]))).text
        form = fields_of(asked[asked.index('<form class="fields"') :], f"{path}/retry")
        done = await visitor.post(f"{path}/retry", form)
        told_page = (await visitor.get(done.headers["location"])).text

    assert "503 &lt;busy&gt;" in page
    assert "3 deliveries match" in asked
    assert "Deliver 3 deliveries again" in asked
    assert "3 deliveries made again now" in told_page
    assert sorted(await statuses(console)) == ["failed"] * 2 + ["pending"] * 3


async def test_one_delivery_shows_what_was_sent_and_answered_and_is_made_again(
    console: Visiting,
) -> None:
    async with console.connection() as conn:
        hook = await failed(conn, 1)
        delivery = await make.scalar(conn, "SELECT id FROM mailqueue.webhook_deliveries")
        await conn.execute(
            "INSERT INTO mailqueue.webhook_attempts"
            " (delivery_id, webhook_id, project_id, attempt, tried_at, status_code, error, took_ms,"
            "  request_headers, response)"
            " SELECT id, webhook_id, project_id, 7, now(), 503, '503 <busy>', 1234,"
            "        '{\"content-type\": \"<x>\"}', '<script>x</script>'"
            " FROM mailqueue.webhook_deliveries"
        )
    path = f"{HOOKS}/{hook}/deliveries/{delivery}"
    async with console.visitor() as visitor, console.visitor() as viewer:
        await logged_in(console, visitor)
        await logged_in(console, viewer, "viewer")
        page = (await visitor.get(path)).text
        hidden = await viewer.get(path)
        first = await visitor.submit(path, f"{path}/retry")
        after = (await visitor.get(first.headers["location"])).text
        token = visitor.token(f"{path}/retry")
        twice = await visitor.post(f"{path}/retry", {"token": token})

    assert "ann@example.com" in page
    assert "1.2 s" in page
    assert "&lt;script&gt;x" in page
    assert "<script>x" not in page
    assert hidden.status_code == 403
    assert "made again now" in after
    assert twice.status_code == 409
    assert "it has not ended" in twice.text
    assert await statuses(console) == ["pending"]


async def test_a_webhook_is_disabled_its_secret_replaced_and_it_is_removed(
    console: Visiting,
) -> None:
    async with console.connection() as conn:
        path = f"{HOOKS}/{await webhook(conn, URL)}"
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        wrong = await visitor.submit(f"{path}/secret", f"{path}/secret", overlap="9")
        rotated = await visitor.submit(f"{path}/secret", f"{path}/secret", overlap="24")
        await visitor.submit(f"{path}/switch", f"{path}/switch")
        off = (await visitor.get(path)).text
        retry = (await visitor.get(f"{path}/retry")).text
        await visitor.submit(f"{path}/switch", f"{path}/switch")
        on = (await visitor.get(path)).text
        removed = await visitor.submit(f"{path}/remove", f"{path}/remove")
        gone = await visitor.get(path)
    async with console.connection() as conn:
        actions = await make.rows(
            conn,
            "SELECT action, actor FROM mailqueue.audit_events WHERE action LIKE 'webhook.%%'"
            " ORDER BY id",
        )

    assert wrong.status_code == 422
    assert _SECRET.search(unescape(rotated.text))
    assert "disabled by a person" in off
    assert "Enable it" in retry
    assert '<span class="pill good">enabled</span>' in on
    assert removed.headers["location"].endswith("/webhooks?done=removed")
    assert gone.status_code == 404
    assert [action for action, _ in actions][1:] == [
        "webhook.rotated",
        "webhook.disabled",
        "webhook.enabled",
        "webhook.removed",
    ]
    assert all("project_admin (console)" in actor for _, actor in actions[1:])


async def test_filters_are_the_url_and_hostile_values_are_no_error(console: Visiting) -> None:
    async with console.connection() as conn:
        hook = await failed(conn, 60)
    path = f"{HOOKS}/{hook}"
    async with console.visitor() as visitor:
        await logged_in(console, visitor, "viewer")
        first = (await visitor.get(f"{path}?status=failed&type=email.delivered")).text
        following = re.search(r'rel="next" href="([^"]*)"', first)
        assert following is not None
        second = (await visitor.get(unescape(following[1]))).text
        none = (await visitor.get(f"{path}?status=delivered")).text
        hostile = '"><script>x\0'
        for name in ("status", "type", "since", "until", "before", "done", "retried"):
            response = await visitor.http.get(path, params={name: hostile})
            assert (response.status_code, "<script>x" in response.text) == (200, False), name
            is_listed = "503 &lt;busy&gt;" in response.text
            assert is_listed is (name in ("before", "done", "retried")), name
        huge = await visitor.http.get(path, params={"retried": "9" * 1_900})
        missing = await visitor.get(f"{HOOKS}/{uuid4()}")
        wrong = await visitor.get(f"{HOOKS}/x")
        refused = await visitor.get(f"{path}/retry")

    assert first.count("503 &lt;busy&gt;") == 50
    assert second.count("503 &lt;busy&gt;") == 10
    assert "No delivery matches" in none
    assert huge.status_code == 200
    assert (missing.status_code, wrong.status_code, refused.status_code) == (404, 404, 403)


async def test_a_format_of_a_provider_is_chosen_in_the_form(console: Visiting) -> None:
    """SendGrid's has a public key instead of a secret; Postmark's the login of the URL."""
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        by_key = await visitor.submit(f"{HOOKS}/new", f"{HOOKS}/new", url=URL, format="sendgrid")
        page = (await visitor.get(f"{HOOKS}/{await id_of(console)}")).text
        by_login = await visitor.submit(
            f"{HOOKS}/new", f"{HOOKS}/new", url="https://a:b@example.com/", format="postmark"
        )
        path = f"{HOOKS}/{await id_of(console)}"
        shown = (await visitor.get(path)).text
        asked = (await visitor.get(f"{path}/secret")).text

    async with console.connection() as conn:
        key = await make.scalar(
            conn, "SELECT public_key FROM mailqueue.webhooks WHERE public_key IS NOT NULL"
        )
    assert key in unescape(by_key.text)
    assert key in unescape(page)
    assert "a:b" in by_login.text
    assert "a:b" not in shown + asked
    assert "<dd>postmark</dd>" in shown
    assert "has room for one" in asked
