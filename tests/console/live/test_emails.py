"""Open pages of emails: what changed comes by events, to those who may see it."""

import asyncio
from uuid import UUID

import pytest

from mailqueue.console.emails import pages
from tests import make
from tests.console.live.serving import Served

pytestmark = pytest.mark.anyio

ROLE = "UPDATE mailqueue.console_users SET role = %s WHERE name = 'ben'"


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "READ_SECONDS", 0)


def live(email: UUID, project: str = "shop") -> str:
    return f"/console/projects/{project}/emails/{email}/live"


async def queued(served: Served) -> UUID:
    async with served.console.connection() as conn:
        return await make.queued_email(conn, project_id=await make.project(conn, "shop"))


async def cancel(served: Served) -> None:
    async with served.console.connection() as conn:
        await conn.execute(
            "SELECT mailqueue.cancel_emails(project_id, ARRAY[id], 'test')"
            " FROM mailqueue.email_queue"
        )


async def test_pages_of_one_email_share_a_connection_and_get_what_changed(served: Served) -> None:
    email = await queued(served)
    await served.console.add_user("ann")
    http = await served.browser("ann")
    opened = [await served.open(http, live(email)) for _ in range(5)]
    for page in opened:
        assert set(await page.until("parts")) == {"state", "facts"}
    assert await served.connections() == 1
    await cancel(served)
    for page in opened:
        async with asyncio.timeout(20):
            while "cancelled" not in (await page.until("parts")).get("state", ""):
                pass


async def test_each_page_has_the_actions_of_its_user(served: Served) -> None:
    email = await queued(served)
    await served.console.add_user("ann")
    await served.console.add_user("ben", "viewer", "shop")
    parts = {}
    for name in ("ann", "ben"):
        page = await served.open(await served.browser(name), live(email))
        parts[name] = (await page.until("parts"))["state"]

    assert "Show the message" in parts["ann"]
    assert "Cancel" in parts["ann"]
    assert "Show the message" not in parts["ben"]
    assert "Cancel" not in parts["ben"]


async def test_a_page_that_is_opened_shows_the_others_what_it_read(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "READ_SECONDS", 600)
    email = await queued(served)
    await served.console.add_user("ann")
    http = await served.browser("ann")
    page = await served.open(http, live(email))
    await page.until("parts")
    await cancel(served)
    opened = await http.get(live(email).removesuffix("/live"))
    async with asyncio.timeout(20):
        changed = await page.until("parts")

    assert "cancelled" in opened.text
    assert "cancelled" in changed["state"]


async def test_an_email_is_streamed_to_those_only_who_may_see_it(served: Served) -> None:
    email = await queued(served)
    async with served.console.connection() as conn:
        await make.project(conn, "blog")
    await served.console.add_user("ben", "viewer", "blog")
    http = await served.browser("ben")
    for events in ({}, {"Accept": "text/event-stream"}):
        other = await http.get(live(email), headers=events)
        disguised = await http.get(live(email, "blog"), headers=events)
        assert "Cancel" not in other.text + disguised.text
        assert other.status_code == 404
        if not events:
            assert disguised.status_code == 404
        else:  # it is over before anything was sent
            assert "parts" not in disguised.text
            assert "event: over" in disguised.text


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM mailqueue.console_members",
        "UPDATE mailqueue.console_users SET role = 'support' WHERE name = 'ben'",
        "DELETE FROM mailqueue.email_queue",
    ],
    ids=["leaves-the-project", "another-role", "email-gone"],
)
async def test_a_stream_ends_when_its_page_is_another(served: Served, change: str) -> None:
    email = await queued(served)
    await served.console.add_user("ben", "viewer", "shop")
    page = await served.open(await served.browser("ben"), live(email))
    await page.until("parts")
    async with served.console.connection() as conn:
        await conn.execute(change.encode())
    async with asyncio.timeout(20):
        await page.until("over")


async def test_the_newest_emails_of_a_project_appear_in_open_lists(served: Served) -> None:
    async with served.console.connection() as conn:
        shop = await make.project(conn, "shop")
    await served.console.add_user("ben", "viewer", "shop")
    path = "/console/projects/shop/emails/live"
    page = await served.open(await served.browser("ben"), path)
    first = (await page.until("parts"))["emails"]
    async with served.console.connection() as conn:
        await make.queued_email(conn, subject="Of another project")
        await make.queued_email(conn, project_id=shop, subject="<b>New</b>")
    async with asyncio.timeout(20):
        while "New" not in (shown := (await page.until("parts")).get("emails", "")):
            pass

    assert "VALUES (&#39;shop&#39;" in first or "VALUES ('shop'" in first
    assert "first steps" not in first
    assert "&lt;b&gt;New&lt;/b&gt;" in shown
    assert "Of another project" not in shown
