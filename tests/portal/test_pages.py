"""The pages of persons: inboxes, channels, rules, notifications, and hostile forms."""

from http import HTTPStatus

import pytest

from mailqueue.portal.table import PAGES
from tests import make
from tests.console.test_pages import elements
from tests.portal.filled import filled
from tests.portal.visiting import HOME, ORIGIN, Visiting
from tests.watch import watching

pytestmark = pytest.mark.anyio

IMAP = {
    "email_address": "ann@example.com",
    "host": "imap.example.com",
    "port": "993",
    "tls": "implicit",
    "password": "hidden word",
    "folders": "INBOX\r\nLists",
    "scan_seconds": "60",
}


async def test_an_inbox_is_added_paused_resumed_scanned_and_removed(portal: Visiting) -> None:
    await portal.person()
    async with portal.visitor() as visitor:
        await visitor.log_in()
        added = await visitor.submit("/inboxes/new", "/inboxes/new", **IMAP)
        async with portal.connection() as conn:
            row = await make.rows(conn, "SELECT id, folders FROM mailqueue.mailboxes")
        one = f"/inboxes/{row[0][0]}"
        states = []
        for action in ("pause", "resume", "scan"):
            done = await visitor.submit("", f"{one}/{action}")
            states.append(await visitor.text(done.headers["location"].removeprefix(HOME)))
        asked = await visitor.text(f"{one}/remove")
        removed = await visitor.submit(f"{one}/remove", f"{one}/remove")
        page = await visitor.text()

    assert added.headers["location"] == f"{HOME}?done=added"
    assert row[0][1] == ["INBOX", "Lists"]
    assert "paused" in states[0]
    assert "The inbox is watched again" in states[1]
    assert "last scan none yet" in states[2]
    assert "New mail in it is not reported any more" in asked
    assert removed.status_code == HTTPStatus.SEE_OTHER
    assert "No inbox is watched yet" in page


async def test_what_was_typed_stays_after_an_error_but_not_the_password(portal: Visiting) -> None:
    await portal.person()
    async with portal.visitor() as visitor:
        await visitor.log_in()
        page = await visitor.submit("/inboxes/new", "/inboxes/new", **(IMAP | {"host": "10.0.0.1"}))

    assert page.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert "10.0.0.1 is not a public address" in page.text
    assert 'value="ann@example.com"' in page.text
    assert "hidden word" not in page.text


async def test_an_inbox_in_error_is_reconnected(portal: Visiting) -> None:
    ann = await portal.person()
    async with portal.connection() as conn:
        one = await watching.inbox(conn, ann, 993)
        await conn.execute(
            "UPDATE mailqueue.mailboxes SET status = 'failed', last_error = 'the login was refused'"
        )
    path = f"/inboxes/{one}/reconnect"
    async with portal.visitor() as visitor:
        await visitor.log_in()
        before = await visitor.text()
        done = await visitor.submit(path, path, password="another")
        after = await visitor.text()

    assert "the login was refused" in before
    assert done.status_code == HTTPStatus.SEE_OTHER
    assert "the login was refused" not in after


async def test_a_rule_is_tried_on_a_sample_and_on_earlier_mail_before_it_is_saved(
    portal: Visiting,
) -> None:
    ann = await portal.person()
    async with portal.connection() as conn:
        await filled(conn, ann)
        await conn.execute("DELETE FROM mailqueue.filter_rules")
    rule = {"rule_type": "subject", "pattern": "invoice", "priority": "0", "is_active": "on"}
    async with portal.visitor() as visitor:
        await visitor.log_in()
        texts = [
            (
                await visitor.submit(
                    "/rules/new", "/rules/new", **rule, subject=subject, button="try"
                )
            ).text
            for subject in ("Invoice 81", "A report", "")
        ]
        async with portal.connection() as conn:
            tried = await make.scalar(conn, "SELECT count(*) FROM mailqueue.filter_rules")
        saved = await visitor.submit("/rules/new", "/rules/new", **rule, button="save")
        async with portal.connection() as conn:
            one = await make.scalar(conn, "SELECT id FROM mailqueue.filter_rules")
        path = f"/rules/{one}"
        changed = await visitor.submit(
            path, path, **(rule | {"pattern": "bill", "is_active": ""}), button="save"
        )
        listed = await visitor.text("/rules")
        removed = await visitor.submit(f"{path}/remove", f"{path}/remove")

    assert "The sample matches." in texts[0]
    assert "The sample does not match." in texts[1]
    assert "Of your last 4 mails, 4 match" in texts[2]
    assert "The sample" not in texts[2]
    assert tried == 0
    assert [one.status_code for one in (saved, changed, removed)] == [303, 303, 303]
    assert "bill" in listed
    assert "No rule is active: you are notified of all new mail." in listed


async def test_notifications_say_what_became_of_them_and_failed_ones_are_delivered_again(
    portal: Visiting,
) -> None:
    ann = await portal.person()
    async with portal.connection() as conn:
        made = await filled(conn, ann)
    async with portal.visitor() as visitor:
        await visitor.log_in()
        every = await visitor.text("/notifications")
        failed = await visitor.text("/notifications?status=failed")
        one = await visitor.submit("/notifications", f"/notifications/{made.notification}/retry")
        none = await visitor.text("/notifications?status=failed")
        async with portal.connection() as conn:
            await conn.execute(
                "UPDATE mailqueue.notifications SET status = 'failed', finished_at = now()"
            )
        all_of_them = await visitor.submit("/notifications?status=failed", "/notifications/retry")
        async with portal.connection() as conn:
            states = await make.rows(
                conn, "SELECT status, count(*) FROM mailqueue.notifications GROUP BY 1"
            )

    assert "It was not delivered: Slack answered 500" in every
    assert "It may have arrived: no answer within 10 seconds" in every
    assert "Invoice 81 of May, delivered" not in failed
    assert one.headers["location"].endswith("done=retried")
    assert "No notification is failed." in none
    assert all_of_them.headers["location"].endswith("done=retried")
    assert states == [("pending", 4)]


async def test_all_notifications_are_paused_and_resumed(portal: Visiting) -> None:
    ann = await portal.person()
    async with portal.connection() as conn:
        await watching.inbox(conn, ann, 993)
    async with portal.visitor() as visitor:
        await visitor.log_in()
        await visitor.submit("", "/pause")
        paused = await visitor.text("/rules")
        await visitor.submit("/rules", "/resume")
        resumed = await visitor.text()

    assert "All your notifications are paused." in paused
    assert "All your notifications are paused." not in resumed


async def test_a_channel_is_disconnected_and_stays_as_a_record(portal: Visiting) -> None:
    ann = await portal.person()
    async with portal.connection() as conn:
        one = await watching.channel(conn, ann)
    path = f"/channels/{one}/disconnect"
    async with portal.visitor() as visitor:
        await visitor.log_in()
        await visitor.submit(path, path)
        page = await visitor.text("/channels")

    assert "disconnected" in page
    assert "Slack cannot be connected here" in page, "no app is set"


async def test_a_form_that_is_sent_twice_acts_once(portal: Visiting) -> None:
    await portal.person()
    async with portal.visitor() as visitor:
        await visitor.log_in()
        path = "/rules/new"
        fields = {"pattern": "example.com", "button": "save", "token": visitor.token(path)}
        first, second = [await visitor.post(path, fields) for _ in range(2)]
    async with portal.connection() as conn:
        count = await make.scalar(conn, "SELECT count(*) FROM mailqueue.filter_rules")

    assert first.headers["location"].endswith("done=added")
    assert second.headers["location"].endswith("done=before")
    assert count == 1


async def test_every_form_needs_a_token_and_a_page_of_ours(portal: Visiting) -> None:
    await portal.person()
    answers = []
    async with portal.visitor() as visitor:
        await visitor.log_in()
        paths = [page.path.replace("{", "").replace("}", "") for page in PAGES]
        for path in {
            path for path, page in zip(paths, PAGES, strict=True) if page.method == "POST"
        }:
            token = visitor.token(path)
            answers += [
                await visitor.post(path, {"token": ""}),
                await visitor.post(path, {"token": visitor.token("/another")}),
                await visitor.post(path, {"token": token}, Origin="https://example.com"),
                await visitor.http.post(visitor.home + path, data={"token": token}),
            ]
    async with portal.visitor() as visitor:
        await visitor.get("/login")
        answers += [
            await visitor.post(path, {"email": "ann@example.com"})
            for path in ("/login", "/forgotten", "/welcome")
        ]

    assert {one.status_code for one in answers} == {HTTPStatus.FORBIDDEN}


@pytest.mark.parametrize(
    "fields",
    [
        {"pattern": "a\0b"},
        {"pattern": "x" * 60_000},
        {"pattern": "é\u202e\ufffe" * 170, "priority": "9" * 40},
        {"rule_type": "\0", "pattern": "x"},
        {"pattern": "<script>alert(1)</script>", "rule_type": "no such"},
    ],
)
async def test_a_hostile_form_is_answered_with_a_sentence(
    portal: Visiting, fields: dict[str, str]
) -> None:
    await portal.person()
    async with portal.visitor() as visitor:
        for path in ("/login", "/forgotten"):
            hostile = dict.fromkeys(("email", "password", "next"), fields["pattern"])
            response = await visitor.submit(path, path, **hostile)
            assert response.status_code < 500, response.text
        await visitor.log_in()
        for path in ("/rules/new", "/inboxes/new", "/inboxes/gmail"):
            hostile = dict.fromkeys(IMAP, fields["pattern"][:7_000]) | fields
            response = await visitor.post(
                path, hostile | {"button": "save", "token": visitor.token(path)}
            )
            assert response.status_code < 500, response.text
            assert "<script>alert" not in response.text
        found = await visitor.get("/notifications?status=%00&before=%ff&done=<script>alert(1)")

    assert found.status_code == HTTPStatus.OK
    assert "<script>alert" not in found.text


@pytest.mark.parametrize("charset", ["no-such", "utf-7", "undefined"])
async def test_a_form_in_another_charset_is_refused(portal: Visiting, charset: str) -> None:
    parts = b'--end\r\nContent-Disposition: form-data; name="email"\r\n\r\n+2AA-\r\n--end--\r\n'
    kind = f"multipart/form-data; boundary=end; charset={charset}"
    async with portal.visitor() as visitor:
        await visitor.get("/login")
        response = await visitor.http.post(
            f"{HOME}/login", content=parts, headers={"Origin": ORIGIN, "Content-Type": kind}
        )

    assert response.status_code == HTTPStatus.UNSUPPORTED_MEDIA_TYPE
    assert "The form must be in UTF-8." in response.text


async def test_every_page_has_a_strict_policy_and_no_code_inside(portal: Visiting) -> None:
    ann = await portal.person()
    async with portal.connection() as conn:
        values = (await filled(conn, ann)).variables
        await conn.execute(
            "UPDATE mailqueue.notifications SET subject = %(a)s, preview = %(a)s,"
            " sender_name = %(a)s, last_error = %(a)s",
            {"a": "<b>&word"},
        )
        await conn.execute("UPDATE mailqueue.filter_rules SET pattern = '<b>&word'")
        await conn.execute("UPDATE mailqueue.mailboxes SET last_error = '<b>&word'")
    async with portal.visitor() as visitor:
        await visitor.log_in()
        for page in PAGES:
            if page.method != "GET" or page.is_public:
                continue
            response = await visitor.get(page.path.format(**values))
            found = elements(response.text)
            assert response.status_code == HTTPStatus.OK, page.path
            assert found.inline == [], page.path
            assert "<b>&word" not in response.text, page.path
            assert "unsafe" not in response.headers["content-security-policy"]
            assert response.headers["cache-control"] == "no-store"
            assert all(link.startswith(("/", "#")) for link in found.links), page.path
