"""The pictures of docs/tour.md: pages of a shop with a week of mail, as its people see them.

With TOUR_PICTURES=docs/pictures in the environment the pictures are made anew.
"""

import os
import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from mailqueue.db.fetch import Conn
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.analytics import folding
from tests.console.looking import TRANSITIONS_OVER, Seen, looking_at
from tests.templates.making import published

pytestmark = pytest.mark.anyio

DOCS = Path(__file__).parents[3] / "docs"
PICTURES = DOCS / "pictures"
SCREEN = (1280, 800)
"""Width and height of a picture in CSS pixels."""
STEPS: dict[str, tuple[str, str]] = {
    "dashboard": ("/console/projects/shop/activity", "Attempts to send"),
    "emails": ("/console/projects/shop/emails", "Your order is on its way"),
    "email": ("/console/projects/shop/emails/{failed}", "User unknown"),
    "find": ("/console/find?q=ann.smith", "ann.smith"),
    "incidents": ("/console/projects/shop/incidents?verb=hold&subject=Winter", "40 emails match"),
    "analytics": (
        "/console/projects/shop/analytics?period=week&metric=sent&group=campaign",
        "newsletter-48",
    ),
    "template": (
        "/console/projects/shop/templates/{template}/preview?variables=%7B%22name%22:%22Ann%22%7D",
        "Welcome, Ann",
    ),
}
"""For each picture the path of its page, and a text on it."""


async def _seed(conn: Conn) -> dict[str, str]:
    project_id = await make.project(conn, "shop")
    for name, provider in (("relay", "smtp"), ("postmark", "postmark")):
        await make.sender_account(conn, project_id=project_id, name=name, provider=provider)
    template = await published(conn, project_id, slug="welcome", name="Welcome")
    # The week may have begun in the month before.
    for days in (8, 0):
        query = "SELECT mailqueue.make_partitions_of((current_date - %s::integer)::date)"
        await conn.execute(query.encode(), (days,))
    async with conn.transaction():
        for statement in (Path(__file__).parent / "shop.sql").read_text("utf-8").split(";\n\n"):
            await conn.execute(statement.encode())
    for number in range(40):
        await make.queued_email(
            conn,
            project_id=project_id,
            subject="Winter arrives on Friday",
            recipient_email=f"reader{number}@example.com",
            campaign_id="newsletter-49",
            priority=3,
        )
    await conn.execute("SELECT mailqueue.rebuild_stats(clock_timestamp() - interval '8 days', 'x')")
    await folding.caught_up(conn)
    failed = await make.scalar(
        conn,
        "SELECT id FROM mailqueue.email_history WHERE status = 'failed'"
        " ORDER BY finished_at DESC LIMIT 1",
    )
    return {"failed": str(failed), "template": str(template.id)}


@pytest.mark.browser
async def test_each_picture_of_the_tour_shows_its_page(
    database: DatabaseSettings, browser: Browser
) -> None:
    async with looking_at(database, browser) as seen:
        async with seen.console.connection() as conn:
            values = await _seed(conn)
        await seen.log_in()
        await seen.page.emulate_media(color_scheme="light")
        await seen.page.set_viewport_size({"width": SCREEN[0], "height": SCREEN[1]})
        for name, (path, text) in STEPS.items():
            await seen.page.goto(seen.url + path.format(**values))
            await expect(seen.page.get_by_text(text).first).to_be_visible()
            await _keep(seen, seen.page, name)

    assert seen.complaints == []


async def _keep(seen: Seen, page: Page, name: str) -> None:
    """Write the picture of a page, where TOUR_PICTURES names a folder."""
    if (folder := os.environ.get("TOUR_PICTURES")) is not None:
        await page.evaluate(TRANSITIONS_OVER)
        await page.screenshot(path=Path(folder) / f"tour-{name}.png")


def test_the_tour_shows_each_picture_and_no_other() -> None:
    shown = re.findall(r"\(pictures/tour-(\w+)\.png\)", (DOCS / "tour.md").read_text("utf-8"))
    assert shown == list(STEPS)
    assert sorted(one.name for one in PICTURES.iterdir()) == sorted(
        f"tour-{name}.png" for name in STEPS
    )


@pytest.mark.parametrize("name", STEPS)
def test_a_picture_is_as_large_as_the_screen_and_not_heavy(name: str) -> None:
    picture = (PICTURES / f"tour-{name}.png").read_bytes()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    size = (int.from_bytes(picture[16:20], "big"), int.from_bytes(picture[20:24], "big"))
    assert size == SCREEN
    assert len(picture) < 200_000
