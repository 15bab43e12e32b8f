"""What people come to the console for, each from the dashboard in four clicks, or by one search."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Literal

import pytest
from playwright.async_api import Browser

from mailqueue.core.secret import Secret
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.console.looking import Seen, faults_of, looking_at, shown
from tests.console.tasks.hands import Hand
from tests.console.tasks.shops import REPLY, open_shops
from tests.imports import steps as import_steps

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

MAX_CLICKS = 4
Task = Callable[[Hand], Awaitable[None]]


@pytest.fixture(scope="module")
async def shops(module_db: str, browser: Browser) -> AsyncIterator[Seen]:
    """A console with a shop for the mouse and one for the keyboard; a superadmin is logged in."""
    async with looking_at(DatabaseSettings(Secret(module_db)), browser) as seen:
        async with seen.console.connection() as conn:
            await open_shops(conn, "shop-mouse", "shop-keyboard")
        await seen.log_in()
        yield seen


@pytest.fixture(params=["mouse", "keyboard"])
async def hand(shops: Seen, request: pytest.FixtureRequest) -> Hand:
    """A hand that has done nothing yet; the user has proved lately who it is."""
    kind: Literal["mouse", "keyboard"] = request.param
    async with shops.console.connection() as conn:
        await conn.execute("UPDATE mailqueue.console_sessions SET confirmed_at = now()")
    hand = Hand(shops, kind)
    await hand.begin()
    return hand


async def noted(hand: Hand, after: int) -> list[str]:
    """Return what the user has done since an entry of the audit log."""
    query = (
        "SELECT action FROM mailqueue.audit_events"
        " WHERE id > %s AND actor LIKE '%%ann (console)%%' ORDER BY id"
    )
    async with hand.seen.console.connection() as conn:
        return [row[0] for row in await make.rows(conn, query, after)]


async def newest_entry(hand: Hand) -> int:
    """Return the id of the newest entry of the audit log."""
    async with hand.seen.console.connection() as conn:
        query = "SELECT coalesce(max(id), 0) FROM mailqueue.audit_events"
        found: int = await make.scalar(conn, query)
    return found


async def open_page(hand: Hand, name: str) -> None:
    """Go to a page of the project, from the dashboard."""
    await hand.press(hand.project)
    await hand.press(name)


async def see_why_a_mail_did_not_arrive_and_send_it_again(hand: Hand) -> None:
    await hand.search(f"late@{hand.project}.com")
    await hand.press("Your order")
    await hand.reads(REPLY)
    await hand.press("Send again …")
    await hand.press("Send again", "button")
    await hand.reads("The email is queued to be sent again.")


async def send_to_a_suppressed_address_again(hand: Hand) -> None:
    await hand.search(f"bounced@{hand.project}.com")
    await hand.press("Your bill")
    await hand.press("Lift the suppression and send …")
    await hand.enter("Reason", "has a new mailbox")
    await hand.press("Lift the suppression and send", "button")
    await hand.reads("The email is queued to be sent again.")


async def see_who_revoked_a_key(hand: Hand) -> None:
    await open_page(hand, "API keys")
    await hand.reads("revoked by ben (console)")


async def pause_a_campaign(hand: Hand) -> None:
    await open_page(hand, "Campaigns")
    await hand.press("Pause spring")
    await hand.press("Pause", "button")
    await hand.reads("spring <img")


async def see_which_provider_is_slow(hand: Hand) -> None:
    first = hand.seen.page.locator("#accounts tbody tr").first
    text = await first.inner_text()
    assert "slow" in text
    assert "postmark" in text


async def hold_all_mail_with_a_subject(hand: Hand) -> None:
    await open_page(hand, "Incidents")
    await hand.enter("Subject contains", "wrong price", submit=True)
    await hand.press("Hold 1 email", "button")
    await hand.reads("wrong price")


async def create_a_project(hand: Hand) -> None:
    await hand.press("Projects")
    await hand.press("Create a project")
    await hand.enter("Name: lower-case", f"new-{hand.kind}")
    await hand.press("Create the project", "button")
    await hand.reads(f"new-{hand.kind}")


async def make_a_key(hand: Hand) -> None:
    await open_page(hand, "API keys")
    await hand.press("Create a key")
    await hand.enter("Name, such as", "worker")
    await hand.press("Create the key", "button")
    await hand.reads("mq_live_")


async def roll_back_a_template(hand: Hand) -> None:
    await open_page(hand, "Templates")
    await hand.press("Roll back receipt to version 1")
    await hand.press("Publish", "button")
    await hand.reads("The version was published.")
    await hand.reads("Welcome, {{ name }}")


async def deliver_again_what_webhooks_did_not_get_yesterday(hand: Hand) -> None:
    await open_page(hand, "Webhooks")
    await hand.press("Deliver again to")
    await hand.press("Deliver 2 deliveries again", "button")
    await hand.reads("2 deliveries made again now.")


async def import_suppressions(hand: Hand) -> None:
    await open_page(hand, "Suppressions")
    await hand.press("Import …")
    await hand.choose_file("File:", "<b>.csv", "email\nleft@example.com\ngone@example.com\n")
    await hand.press("Import", "button")
    await import_steps.worked(hand.seen.console.database)
    await hand.reads("2 lines read, 2 added, 0 refused.")


async def read_the_dkim_record(hand: Hand) -> None:
    await open_page(hand, f"{hand.project}.com")
    await hand.reads("v=DKIM1")


async def invite_a_colleague(hand: Hand) -> None:
    await open_page(hand, "Members")
    await hand.press("Invite a person …")
    await hand.enter("Name, to log in with", f"colleague-{hand.kind}")
    await hand.press("Invite", "button")
    await hand.reads("/console/welcome?link=mq_link_")


async def export_last_month(hand: Hand) -> None:
    await open_page(hand, "Exports")
    await hand.press("New export …")
    await hand.press("Begin the export", "button")
    await hand.reads("Emails")


async def see_the_next_step_of_a_contact(hand: Hand) -> None:
    await open_page(hand, "Contacts")
    await hand.press(f"reader@{hand.project}.com")
    await hand.reads("next tips")


async def find_the_next_step_of_an_address(hand: Hand) -> None:
    await hand.search(f"reader@{hand.project}.com")
    await hand.press("The contact: lists")
    await hand.reads("next tips")


async def see_why_slack_did_not_get_a_notification(hand: Hand) -> None:
    await open_page(hand, "Notifications")
    await hand.press("Mail 7")
    await hand.reads("channel_not_found")


TASKS: Mapping[Task, Sequence[str]] = {
    see_which_provider_is_slow: (),
    see_why_a_mail_did_not_arrive_and_send_it_again: ("emails.requeued",),
    send_to_a_suppressed_address_again: ("suppression.removed", "emails.resent"),
    see_who_revoked_a_key: (),
    pause_a_campaign: ("campaign.paused",),
    hold_all_mail_with_a_subject: ("operation.begun",),
    create_a_project: ("project.added",),
    make_a_key: ("api_key.created",),
    roll_back_a_template: ("template.published",),
    deliver_again_what_webhooks_did_not_get_yesterday: ("webhook.retried",),
    import_suppressions: ("import.begun", "suppressions.added"),
    read_the_dkim_record: (),
    invite_a_colleague: ("console_member.added", "console_user.added"),
    export_last_month: ("export.begun",),
    see_the_next_step_of_a_contact: (),
    find_the_next_step_of_an_address: (),
    see_why_slack_did_not_get_a_notification: (),
}
"""What people come for, and what the audit log says of it then."""


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.__name__)
async def test_a_task_takes_at_most_four_clicks_or_one_search_from_the_dashboard(
    hand: Hand, task: Task
) -> None:
    before = await newest_entry(hand)
    await task(hand)

    assert hand.clicks <= MAX_CLICKS
    assert hand.searches <= 1
    assert await noted(hand, before) == list(TASKS[task])
    assert await hand.seen.page.title() != "pwned"
    assert hand.seen.complaints == []


PAGES = (
    "/console/dashboard",
    "/console/projects/shop-mouse/templates",
    "/console/projects/shop-mouse/webhooks",
    "/console/projects/shop-mouse/recipient?address=reader@shop-mouse.com",
)


@pytest.mark.parametrize("path", PAGES)
async def test_the_pages_with_the_short_ways_fit_on_a_telephone_and_axe_finds_nothing(
    shops: Seen, path: str
) -> None:
    faults = await faults_of(shops, path, path=path)
    await shown(shops, path.partition("?")[0].replace("/", "-").strip("-"))

    assert faults == []
    assert shops.complaints == []
