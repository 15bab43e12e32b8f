"""Incidents in the console: count what matches, act once, watch the progress, stop it."""

from urllib.parse import urlencode
from uuid import uuid4

import pytest
from playwright.async_api import Browser

from mailqueue.db.fetch import Conn
from mailqueue.operations import background
from mailqueue.operations.handler import OperationHandler
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.console.looking import looking_at, shown
from tests.console.visiting import Visiting, Visitor
from tests.queue.working import work_once

pytestmark = pytest.mark.anyio

INCIDENTS = "/console/projects/shop/incidents"


async def shop(console: Visiting, conn: Conn, *subjects: str) -> None:
    project = await make.project(conn, "shop")
    for subject in subjects:
        await make.queued_email(conn, project_id=project, subject=subject)
    await console.add_user("ann", "project_admin", "shop")


async def begun(visitor: Visitor, verb: str = "hold", **fields: str) -> str:
    """Begin an operation by the form of a count; return the path of its page."""
    page = f"{INCIDENTS}/cancel" if verb == "cancel" else INCIDENTS
    path = f"{page}?{urlencode({'verb': verb} | fields)}"
    response = await visitor.submit(path, f"{INCIDENTS}/{verb}", reason="wrong price")
    assert response.status_code == 303, response.text
    return response.headers["location"]


async def worked(console: Visiting) -> None:
    await work_once(console.database, "operations", OperationHandler(console.database))


async def states(conn: Conn) -> dict[str, str]:
    found = await make.rows(conn, "SELECT subject, status FROM mailqueue.emails")
    return {row[0]: row[1] for row in found}


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("spring", "Spring sale"),
        ("%", "100% off"),
        ("_", "a_b"),
        ("\\", "a\\b"),
        ('"><script>', '"><script>alert(1)</script>'),
    ],
    ids=["word", "percent", "underscore", "backslash", "script"],
)
async def test_what_is_counted_is_held_once_and_the_rest_is_sent(
    console: Visiting, text: str, matches: str
) -> None:
    async with console.connection() as conn, console.visitor() as visitor:
        subjects = ("Spring sale", "100% off", "a_b", "a\\b", '"><script>alert(1)</script>')
        await shop(console, conn, *subjects)
        await visitor.log_in("ann")
        page = await visitor.get(f"{INCIDENTS}?{urlencode({'subject': text})}")
        assert "1 email matches" in page.text
        assert "<script>alert" not in page.text
        form = await visitor.form(
            f"{INCIDENTS}?{urlencode({'subject': text})}", f"{INCIDENTS}/hold"
        )
        assert form["subject"] == text
        first = await visitor.post(f"{INCIDENTS}/hold", form | {"reason": "wrong price"})
        again = await visitor.post(f"{INCIDENTS}/hold", form)
        assert again.headers["location"].endswith("done=before")
        waiting = await visitor.get(first.headers["location"])
        assert "waiting" in waiting.text
        assert f'hx-get="{first.headers["location"]}"' in waiting.text
        await worked(console)

        done = await visitor.get(first.headers["location"])
        assert "1 email held" in done.text
        assert f'hx-get="{first.headers["location"]}"' not in done.text
        expected = {subject: "held" if subject == matches else "pending" for subject in subjects}
        assert await states(conn) == expected
        assert "1 email held" in (await visitor.get(INCIDENTS)).text
        query = "SELECT actor FROM mailqueue.audit_events WHERE action = 'operation.begun'"
        assert "ann (console)" in await make.scalar(conn, query)


async def test_held_mail_is_released_from_the_page_of_the_operation(console: Visiting) -> None:
    async with console.connection() as conn, console.visitor() as visitor:
        await shop(console, conn, "Spring sale", "Your bill")
        await visitor.log_in("ann")
        path = await begun(visitor, subject="spring")
        await worked(console)
        assert "verb=release&amp;subject=spring" in (await visitor.get(path)).text
        await begun(visitor, "release", subject="spring")
        await worked(console)

        assert set((await states(conn)).values()) == {"pending"}


async def test_cancelling_asks_who_it_is_and_changes_nothing_before(console: Visiting) -> None:
    async with console.connection() as conn, console.visitor() as visitor:
        await shop(console, conn, "Spring sale")
        await visitor.log_in("ann")
        counted = await visitor.get(f"{INCIDENTS}?verb=cancel&subject=spring")
        assert f'action="{INCIDENTS}/cancel"' not in counted.text
        assert f'href="{INCIDENTS}/cancel?subject=spring"' in counted.text
        await conn.execute(console.unconfirmed("ann"))
        for response in (
            await visitor.get(f"{INCIDENTS}/cancel?subject=spring"),
            await visitor.post(
                f"{INCIDENTS}/cancel",
                {"token": visitor.token(f"{INCIDENTS}/cancel"), "subject": "spring"},
            ),
        ):
            assert response.status_code == 303
            assert response.headers["location"].startswith("/console/confirm?next=")
            assert "subject%3Dspring" in response.headers["location"]
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.bulk_operations") == 0


async def test_confirmed_mail_is_cancelled(console: Visiting) -> None:
    async with console.connection() as conn, console.visitor() as visitor:
        await shop(console, conn, "Spring sale", "Your bill")
        await visitor.log_in("ann")
        await begun(visitor, "cancel", subject="spring")
        await worked(console)

        assert await states(conn) == {"Spring sale": "cancelled", "Your bill": "pending"}


async def test_an_operation_is_stopped_once(console: Visiting) -> None:
    async with console.connection() as conn, console.visitor() as visitor:
        await shop(console, conn, "Spring sale")
        await visitor.log_in("ann")
        path = await begun(visitor, subject="spring")
        form = await visitor.form(path, f"{path}/stop")
        first = await visitor.post(f"{path}/stop", form)
        again = await visitor.post(f"{path}/stop", form)
        assert "It stops after the batch" in (await visitor.get(first.headers["location"])).text
        assert again.headers["location"].endswith("done=before")
        await worked(console)

        assert ">stopped<" in (await visitor.get(path)).text
        assert await states(conn) == {"Spring sale": "pending"}
        late = await visitor.post(f"{path}/stop", {"token": visitor.token(f"{path}/stop")})
        assert late.headers["location"].endswith("done=over")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"lane": "urgent"}, "fault-lane"),
        ({"verb": "resend", "subject": "x"}, "fault-verb"),
        ({"domain": "not a domain"}, "fault-domain"),
    ],
    ids=["lane", "verb", "domain"],
)
async def test_what_is_wrong_stands_at_its_field_and_nothing_is_counted(
    console: Visiting, fields: dict[str, str], said: str
) -> None:
    async with console.connection() as conn, console.visitor() as visitor:
        await shop(console, conn, "Spring sale")
        await visitor.log_in("ann")
        page = await visitor.get(f"{INCIDENTS}?{urlencode(fields)}")

        assert page.status_code == 200
        assert said in page.text
        assert f'action="{INCIDENTS}/hold"' not in page.text


async def test_a_reason_that_is_too_long_and_no_condition_are_refused(console: Visiting) -> None:
    async with console.connection() as conn, console.visitor() as visitor:
        await shop(console, conn, "Spring sale")
        await visitor.log_in("ann")
        path = f"{INCIDENTS}/hold"
        long = await visitor.post(
            path, {"token": visitor.token(path), "subject": "spring", "reason": "x" * 501}
        )
        empty = await visitor.post(path, {"token": visitor.token(path)})

        assert (long.status_code, empty.status_code) == (422, 422)
        assert "fault-reason" in long.text
        assert 'value="spring"' in long.text
        assert "At least one condition is needed" in empty.text
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.bulk_operations") == 0


async def test_a_viewer_sees_operations_and_begins_none(console: Visiting) -> None:
    async with console.connection() as conn, console.visitor() as visitor:
        await shop(console, conn, "Spring sale")
        project = await make.project_named(conn, "shop")
        made = await background.begin(
            conn,
            project,
            verb=background.OperationVerb.HOLD,
            where={"subject": "spring"},
            reason="x",
            by="ben",
        )
        await console.add_user("eve", "viewer", "shop")
        await visitor.log_in("eve")
        page = await visitor.get(f"{INCIDENTS}?subject=spring")
        shown_one = await visitor.get(f"{INCIDENTS}/operations/{made.id}")

        assert "1 email matches" not in page.text
        assert str(made.id) in page.text
        assert shown_one.status_code == 200
        assert "/stop" not in shown_one.text
        for path in (f"{INCIDENTS}/hold", f"{INCIDENTS}/operations/{made.id}/stop"):
            refused = await visitor.post(path, {"token": visitor.token(path), "subject": "x"})
            assert refused.status_code == 403
        for unknown in (uuid4(), "x"):
            missing = await visitor.get(f"{INCIDENTS}/operations/{unknown}")
            assert missing.status_code == 404


async def test_older_operations_are_on_further_pages(console: Visiting) -> None:
    async with console.connection() as conn, console.visitor() as visitor:
        await shop(console, conn)
        project = await make.project_named(conn, "shop")
        ids = [
            await background.begin(
                conn,
                project,
                verb=background.OperationVerb.HOLD,
                where={"subject": f"spring {number}"},
                reason="x",
                by="ben",
            )
            for number in range(21)
        ]
        await visitor.log_in("ann")
        first = await visitor.get(INCIDENTS)
        second = await visitor.get(f"{INCIDENTS}?before={ids[1].id}")

        assert str(ids[1].id) in first.text
        assert f"operations/{ids[0].id}" not in first.text
        assert f"operations/{ids[0].id}" in second.text


@pytest.mark.browser
async def test_all_mail_with_a_subject_is_held_by_four_clicks(
    database: DatabaseSettings, browser: Browser
) -> None:
    async with looking_at(database, browser) as seen:
        async with seen.console.connection() as conn:
            project = await make.project(conn, "shop")
            await make.project(conn, "blog")
            for subject in ("Spring sale", "Spring sale again", "Your bill"):
                await make.queued_email(conn, project_id=project, subject=subject)
        await seen.log_in()
        page = seen.page
        await page.goto(f"{seen.url}/console/projects")

        await page.get_by_role("link", name="shop", exact=True).first.click()
        await page.get_by_role("link", name="Incidents").click()
        await page.get_by_label("Subject contains").fill("spring SALE")
        await page.get_by_role("button", name="Count").click()
        await page.get_by_role("heading", name="2 emails match").wait_for()
        await shown(seen, "incidents-counted")
        await page.get_by_role("button", name="Hold 2 emails").click()

        await page.get_by_text("0 emails held").wait_for()
        await shown(seen, "incidents-waiting")
        await worked(seen.console)
        await page.get_by_text("2 emails held").wait_for()  # by itself
        assert await page.get_by_role("button", name="Stop").count() == 0
        await shown(seen, "incidents-done")
        async with seen.console.connection() as conn:
            assert await states(conn) == {
                "Spring sale": "held",
                "Spring sale again": "held",
                "Your bill": "pending",
            }

    assert seen.complaints == []
    assert all(url.startswith((seen.url, "data:")) for url in seen.requests)
